// What the codes of a weight are, counted at the speed of memory: NaN, infinities, -0, zeros, and
// how much of the format's range they use.
#pragma once

#include "octavo/Checkpoint/Layer.h"
#include "octavo/Format/ElementFormat.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::checkpoint {

struct CodeCensus {
  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;
  /// The code of -0 (a sign bit alone). In a format of unsigned zero that code is NaN and counts
  /// there; in a two's complement format it is a number.
  std::uint64_t negativeZero = 0;
  std::uint64_t zero = 0;     ///< of either sign
  std::uint64_t atMax = 0;    ///< of the largest finite magnitude, or beyond it (INT8: -128)
  std::uint64_t belowMax = 0; ///< of the magnitude next to it
  /// Code of the largest finite magnitude that occurs, without its sign.
  std::uint8_t largest = 0;

  CodeCensus& operator+=(const CodeCensus& other);
};

/// Counts the codes of a narrow format that has a zero, one a byte. Bits above the format's width
/// are ignored.
CodeCensus takeCodeCensus(const format::ElementFormat& format, std::span<const std::byte> codes);

/// The same over `count` packed codes (PackedCodes.h) that begin at a byte's edge.
CodeCensus takePackedCodeCensus(const format::ElementFormat& format,
                                std::span<const std::byte> packed, std::uint64_t count);

/// Counts the codes of a layer's elements from byte `begin` to `end` of their tensor; packed codes
/// are cut at multiples of kChunkBytes. Errors: of reading the file.
tl::expected<CodeCensus, Error> takeCodeCensus(const Part& elements, std::uint64_t begin,
                                               std::uint64_t end);

/// The magnitude that a census' `largest` stands for.
double magnitude(const format::ElementFormat& format, std::uint8_t code);

} // namespace octavo::checkpoint
