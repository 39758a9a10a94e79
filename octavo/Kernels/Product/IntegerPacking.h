// Packing of operands for the integer path of Product.h: codes of scaled formats, and f32 as
// digits.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/Product/Product.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>

namespace octavo::kernels {

/// Pack a matrix for the integer path; the result reuses the memory of `old`.
PackedOperand packLeftIntegers(const ScaledView& matrix, const ProductPlan& plan,
                               const Execution& execution, PackedOperand&& old);
PackedOperand packRightIntegers(const ScaledView& matrix, const ProductPlan& plan,
                                const Execution& execution, PackedOperand&& old);
/// Packs plain f32 rows, each value as three digits.
PackedOperand packDigits(std::span<const float> activations, const ProductPlan& plan,
                         const Execution& execution, PackedOperand&& old);

/// The correction for the offset of the right operand's integers, for a piece of the left operand
/// with integers `bytes` and their sum `sum`. Dot::BytesWrapped: two corrections modulo 2^16, one
/// for each half of a dword.
std::uint32_t correctionOf(const ProductPlan& plan, const std::int8_t* bytes, std::int32_t sum);

/// Accumulates leastExponent, greatestExponent and hasUnusualScale of a packed operand.
struct ExponentRange {
  int least = std::numeric_limits<int>::max();
  int greatest = std::numeric_limits<int>::min();
  bool unusual = false;

  void add(float scale) {
    // Reads the exponent's bits: std::ilogb would be a call for each piece.
    const auto field = static_cast<int>(std::bit_cast<std::uint32_t>(scale) >> 23 & 0xFF);
    if (field == 0 || field == 255) {
      unusual = true;
      return;
    }
    const int exponent = field - 127;
    least = std::min(least, exponent);
    greatest = std::max(greatest, exponent);
  }
  void add(const ExponentRange& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    unusual |= other.unusual;
  }
  void into(PackedOperand& packed) const {
    packed.hasUnusualScale = unusual;
    packed.leastExponent = least > greatest ? 0 : least;
    packed.greatestExponent = least > greatest ? 0 : greatest;
  }
};

/// Whether the right operand may be stored as nibbles: E2M1 with one piece per sum, under E8M0
/// scales, or in pieces of 16 under any 8-bit scales.
bool canStoreNibbles(const ProductPlan& plan);

/// Calls makePacker()(row, range) for all rows, on several threads with a packer for each range of
/// rows, and merges the exponent ranges into `packed`.
template <typename MakePacker>
void forRows(PackedOperand& packed, std::size_t grain, const Execution& execution,
             MakePacker makePacker) {
  ExponentRange all;
  std::mutex joining;
  forRanges(static_cast<std::size_t>(packed.rows), grain, execution,
            [&](std::size_t begin, std::size_t end) {
              ExponentRange range;
              auto packRow = makePacker();
              for (std::size_t row = begin; row < end; ++row)
                packRow(static_cast<std::int64_t>(row), range);
              const std::lock_guard lock(joining);
              all.add(range);
            });
  all.into(packed);
}

} // namespace octavo::kernels
