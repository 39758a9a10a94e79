// Counts the codes of a weight at memory speed: NaN, infinities, -0, zeros, and how much of the
// format's range they use.
#pragma once

#include "octavo/Checkpoint/Layer.h"
#include "octavo/Format/ElementFormat.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::checkpoint {

/// Counts of codes. Sums with +=.
struct CodeCensus {
  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;
  /// The code of -0 (only the sign bit set). In a format with unsigned zero this code is NaN and
  /// counts as such; in a two's complement format it is a number.
  std::uint64_t negativeZero = 0;
  std::uint64_t zero = 0;     ///< +0 and -0
  std::uint64_t atMax = 0;    ///< the largest finite magnitude, or beyond it (INT8: -128)
  std::uint64_t belowMax = 0; ///< the next smaller magnitude
  /// Code of the largest finite magnitude that occurs, without sign.
  std::uint8_t largest = 0;

  CodeCensus& operator+=(const CodeCensus& other);
};

/// Counts codes of a narrow format with a zero, one code a byte. Bits above the format's width are
/// ignored.
CodeCensus takeCodeCensus(const format::ElementFormat& format, std::span<const std::byte> codes);

/// Counts `count` packed codes (PackedCodes.h), the first at the start of a byte.
CodeCensus takePackedCodeCensus(const format::ElementFormat& format,
                                std::span<const std::byte> packed, std::uint64_t count);

/// Counts the codes in bytes [begin, end) of a layer's elements. For packed codes both must be
/// multiples of kChunkBytes or the end of the tensor. Errors: reading the file.
tl::expected<CodeCensus, Error> takeCodeCensus(const Part& elements, std::uint64_t begin,
                                               std::uint64_t end);

/// The magnitude of a code without sign, such as CodeCensus::largest.
double magnitude(const format::ElementFormat& format, std::uint8_t code);

} // namespace octavo::checkpoint
