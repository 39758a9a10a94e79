#include "octavo/Base/Lanes.h"
#include "octavo/Kernels/Product/IntegerPacking.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

namespace octavo::kernels {

namespace {

/// The least exponent e of a piece's scale 2^e, and the bound that its values stay below. Within
/// them, a piece can be multiplied by any column that is not far.
constexpr int kLeastUnit = -80;
constexpr float kTooGreat = 0x1p61f;

constexpr int kMostOfPiece = 32;
/// Digits of half a piece that long, in vectors of as many values.
constexpr int kHalfBytes = kMostOfPiece / 2 * kDigits;

using Floats = float __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
using Bytes = std::int8_t __attribute__((vector_size(64)));

/// One piece of f32 as digits: x = n * 2^e, n = 2^16 * a + 2^8 * b + c.
struct FixedPoint {
  /// For each half (kHalfBytes): digits a of four values, their digits b, then c; then the next
  /// four.
  Bytes digits[2];
  std::int32_t sum; ///< of the n, modulo 2^32
  float scale;      ///< 2^e
  bool isFar;       ///< the piece has a NaN or a value that is too large, and no digits
};

/// Digits beyond the end of a shorter piece are 0.
OCTAVO_INTO_CLONES FixedPoint fixedPoint(const Floats (&x)[2]) {
  // Compares bits without the sign: unlike a maximum of floats, that vectorizes.
  const std::int32_t greatest = __builtin_reduce_max(
      __builtin_elementwise_max((Ints)x[0] & 0x7FFFFFFF, (Ints)x[1] & 0x7FFFFFFF));
  const bool isFar = greatest >= std::bit_cast<std::int32_t>(kTooGreat);
  if (isFar || greatest == 0)
    return {.digits = {}, .sum = 0, .scale = 1, .isFar = isFar};
  const int exponent = std::max((greatest >> 23) - 127 - 21, kLeastUnit);
  FixedPoint fixed{.digits = {},
                   .sum = 0,
                   .scale = std::bit_cast<float>((exponent + 127) << 23),
                   .isFar = false};
  const auto inverse = std::bit_cast<float>((127 - exponent) << 23);
  for (int half = 0; half < 2; ++half) {
    // Exact products; the sums with 1.5 * 2^23 round them to integers, ties to even.
    const Ints n = (Ints)(x[half] * inverse + 0x1.8p23f) - 0x4B400000;
    const Ints b = (n - (n << 24 >> 24)) >> 8, a = (b - (b << 24 >> 24)) >> 8;
    fixed.sum += __builtin_reduce_add(n);
    const auto bytes = (Bytes)((a & 0xFF) | (b & 0xFF) << 8 | n << 16);
    fixed.digits[half] = __builtin_shufflevector(
        bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 16, 20, 24, 28, 17, 21, 25, 29, 18,
        22, 26, 30, 32, 36, 40, 44, 33, 37, 41, 45, 34, 38, 42, 46, 48, 52, 56, 60, 49, 53, 57, 61,
        50, 54, 58, 62, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  }
  return fixed;
}

/// Calls each(piece, fixedPoint) for the pieces of a row. Returns whether the row is far.
template <typename Each>
OCTAVO_INTO_CLONES bool forPieces(const float* row, const ProductPlan& plan, const Each& each) {
  bool isFar = false;
  for (std::int64_t p = 0; p < plan.pieces; ++p) {
    const float* const from = row + p * plan.piece;
    const std::int64_t size = std::clamp<std::int64_t>(plan.depth - p * plan.piece, 0, plan.piece);
    Floats values[2] = {};
    if (size == kMostOfPiece)
      std::memcpy(values, from, sizeof(values));
    else if (size == kMostOfPiece / 2)
      std::memcpy(values, from, sizeof(values[0]));
    else
      std::memcpy(values, from, static_cast<std::size_t>(size) * sizeof(float));
    const FixedPoint fixed = fixedPoint(values);
    each(p, fixed);
    isFar |= fixed.isFar;
  }
  return isFar;
}

/// Calls packRow(row), which returns whether the row is far, for all rows.
template <typename PackRow>
void forFarRows(PackedOperand& packed, std::int64_t depth, const Execution& execution,
                PackRow packRow) {
  std::mutex adding;
  // Fewer values are packed before another thread has started.
  constexpr std::int64_t kLeastValues = 1 << 14;
  const auto grain = static_cast<std::size_t>(kLeastValues / std::max<std::int64_t>(1, depth) + 1);
  forRanges(static_cast<std::size_t>(packed.rows), grain, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto row = static_cast<std::int64_t>(begin);
                   row < static_cast<std::int64_t>(end); ++row)
                if (packRow(row)) {
                  const std::lock_guard lock(adding);
                  packed.far.rows.push_back(row);
                }
            });
  std::ranges::sort(packed.far.rows);
}

/// Writes one row of digits of a piece to a tile of `height` rows: its steps, correction and scale.
void writeDigitRow(const ProductPlan& plan, const FixedPoint& fixed, int d, int height,
                   std::byte* to) {
  const int steps = plan.steps();
  std::int8_t bytes[kMostOfPiece];
  std::int16_t words[kMostOfPiece];
  std::int32_t sum = 0;
  for (int k = 0; k < kMostOfPiece; ++k) { // those beyond the piece are 0
    const int half = k / (kMostOfPiece / 2), at = k % (kMostOfPiece / 2);
    bytes[k] = fixed.digits[half][(at / 4 * kDigits + d) * 4 + at % 4];
    words[k] = bytes[k];
    sum += bytes[k];
  }
  const auto* dwords = plan.dot == Dot::Words ? reinterpret_cast<const std::byte*>(words)
                                              : reinterpret_cast<const std::byte*>(bytes);
  for (int s = 0; s < steps; ++s)
    std::memcpy(to + std::int64_t{4} * height * s, dwords + std::ptrdiff_t{4} * s, 4);
  const float scale = fixed.scale * static_cast<float>(1 << (8 * (kDigits - 1 - d)));
  const std::uint32_t correction = correctionOf(plan, bytes, sum);
  std::memcpy(to + std::int64_t{4} * height * steps, &correction, 4);
  std::memcpy(to + std::int64_t{4} * height * (steps + 1), &scale, 4);
}

/// One row of f32 as three rows of digits, the first of which is number `row` of the tiling.
OCTAVO_VECTOR_CLONES bool packDigitRows(const float* values, const ProductPlan& plan,
                                        const Tiling& tiling, std::int64_t row,
                                        std::byte* elements) {
  Tiling::Tile tiles[kDigits];
  for (int d = 0; d < kDigits; ++d)
    tiles[d] = tiling.tileOf(row + d);
  const int record = 4 * (plan.steps() + 2);
  return forPieces(values, plan,
                   [&](std::int64_t p, const FixedPoint& fixed) __attribute__((always_inline)) {
                     for (int d = 0; d < kDigits; ++d) {
                       const auto [first, height] = tiles[d];
                       writeDigitRow(plan, fixed, d, height,
                                     elements + (first * plan.pieces + p * height) * record +
                                         (row + d - first) * 4);
                     }
                   });
}

/// One row of f32 as records of its pieces: the digits of all steps, the correction and the scale.
OCTAVO_VECTOR_CLONES bool packDigitRecords(const float* values, const ProductPlan& plan,
                                           std::byte* to) {
  return forPieces(
      values, plan, [&](std::int64_t, const FixedPoint& fixed) __attribute__((always_inline)) {
        const std::uint32_t correction =
            0u - static_cast<std::uint32_t>(plan.offset) * static_cast<std::uint32_t>(fixed.sum);
        std::memcpy(to, &fixed.digits[0], kHalfBytes);
        to += kHalfBytes;
        if (plan.piece == kMostOfPiece) {
          std::memcpy(to, &fixed.digits[1], kHalfBytes);
          to += kHalfBytes;
        }
        std::memcpy(to, &correction, 4);
        std::memcpy(to + 4, &fixed.scale, 4);
        to += 8;
      });
}

} // namespace

PackedOperand packDigits(std::span<const float> activations, const ProductPlan& plan,
                         const Execution& execution, PackedOperand&& old) {
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  assert(rows * plan.depth == static_cast<std::int64_t>(activations.size()));
  const int steps = plan.steps();
  PackedOperand packed =
      emptied(std::move(old), Side::Left,
              plan.digitRows ? PackedOperand::Storage::Records : PackedOperand::Storage::Digits);
  packed.rows = rows;
  const std::int64_t recordsOfRow = plan.digitRows ? kDigits : 1;
  const std::int64_t record = std::int64_t{4} * (plan.digitRows ? steps + 2 : steps * kDigits + 2);
  packed.elements =
      PackedBytes(static_cast<std::size_t>(rows * recordsOfRow * plan.pieces * record),
                  std::move(packed.elements), PackedBytes::Fill::None);
  const Tiling tiling{rows * recordsOfRow, productKernels(plan.isa).tallest};
  forFarRows(packed, plan.depth, execution, [&](std::int64_t row) {
    const float* values = activations.data() + row * plan.depth;
    std::byte* const elements = packed.elements.data();
    return plan.digitRows ? packDigitRows(values, plan, tiling, row * kDigits, elements)
                          : packDigitRecords(values, plan, elements + row * plan.pieces * record);
  });
  return packed;
}

} // namespace octavo::kernels
