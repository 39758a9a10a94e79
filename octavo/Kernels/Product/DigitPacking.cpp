#include "octavo/Kernels/Product/IntegerPacking.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

namespace octavo::kernels {

namespace {

/// The least power of two whose multiples the integers of a piece are, and a number that none
/// reaches: any column that is not far takes both.
constexpr int kLeastUnit = -80;
constexpr float kTooGreat = 0x1p61f;

/// One piece of f32 as digits: x = n * 2^e, n = 2^16 * digits[0] + 2^8 * digits[1] + digits[2].
struct FixedPoint {
  std::int8_t digits[kDigits][32] = {};
  std::int32_t sum = 0; ///< of the n, modulo 2^32
  float scale = 1;      ///< 2^e
  bool isFar = false;   ///< a NaN or too great; has no digits then

  FixedPoint(const float* x, int size) {
    // The greatest of the bits without the sign: unlike a maximum of floats, a vector's operation.
    std::int32_t greatest = 0;
    for (int k = 0; k < size; ++k)
      greatest = std::max(greatest, std::bit_cast<std::int32_t>(x[k]) & 0x7FFFFFFF);
    isFar = greatest >= std::bit_cast<std::int32_t>(kTooGreat);
    if (isFar || greatest == 0)
      return;
    const int exponent = std::max((greatest >> 23) - 127 - 21, kLeastUnit);
    scale = std::bit_cast<float>((exponent + 127) << 23);
    const float inverse = std::bit_cast<float>((127 - exponent) << 23);
    for (int k = 0; k < size; ++k) {
      // Exact product; the sum with 1.5 * 2^23 rounds it to an integer, ties to even.
      const float shifted = x[k] * inverse + 0x1.8p23f;
      const std::int32_t n = std::bit_cast<std::int32_t>(shifted) - 0x4B400000;
      const std::int32_t low = static_cast<std::int8_t>(n);
      const std::int32_t middle = static_cast<std::int8_t>((n - low) >> 8);
      digits[2][k] = static_cast<std::int8_t>(low);
      digits[1][k] = static_cast<std::int8_t>(middle);
      digits[0][k] = static_cast<std::int8_t>((((n - low) >> 8) - middle) >> 8);
      sum += n;
    }
  }
};

/// Calls packRow(row), which says whether the row is far, for all rows.
template <typename PackRow>
void forFarRows(PackedOperand& packed, const Execution& execution, PackRow packRow) {
  std::mutex adding;
  forRanges(static_cast<std::size_t>(packed.rows), 1, execution,
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

/// f32 rows as three rows of digits each, in the layout of other left operands.
PackedOperand packDigitRows(std::span<const float> activations, const ProductPlan& plan,
                            const Execution& execution, PackedOperand&& old) {
  PackedOperand packed = emptied(std::move(old), Side::Left, PackedOperand::Storage::Records);
  packed.rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  const int steps = plan.steps();
  const Tiling tiling{packed.rows * kDigits, productKernels(plan.isa).tallest};
  packed.elements = PackedBytes(static_cast<std::size_t>(tiling.rows * plan.pieces) * 4 *
                                    static_cast<std::size_t>(steps + 2),
                                std::move(packed.elements), PackedBytes::Fill::None);
  forFarRows(packed, execution, [&](std::int64_t row) {
    bool isFar = false;
    Tiling::Tile tiles[kDigits];
    for (int d = 0; d < kDigits; ++d)
      tiles[d] = tiling.tileOf(row * kDigits + d);
    for (std::int64_t p = 0; p < plan.pieces; ++p) {
      const std::int64_t begin = p * plan.piece;
      const auto size =
          static_cast<int>(std::clamp<std::int64_t>(plan.depth - begin, 0, plan.piece));
      const FixedPoint fixed(activations.data() + row * plan.depth + begin, size);
      for (int d = 0; d < kDigits; ++d) {
        const auto [first, height] = tiles[d];
        std::byte* to = packed.elements.data() +
                        (first * plan.pieces + p * height) * 4 * (steps + 2) +
                        (row * kDigits + d - first) * 4;
        std::int32_t sum = 0;
        std::int16_t words[32];
        for (int k = 0; k < 32; ++k) {
          words[k] = fixed.digits[d][k]; // those beyond the piece are 0
          sum += fixed.digits[d][k];
        }
        const auto* dwords = plan.dot == Dot::Words
                                 ? reinterpret_cast<const std::byte*>(words)
                                 : reinterpret_cast<const std::byte*>(fixed.digits[d]);
        for (int s = 0; s < steps; ++s)
          std::memcpy(to + std::int64_t{4} * height * s, dwords + std::ptrdiff_t{4} * s, 4);
        const float scale = fixed.scale * static_cast<float>(1 << (8 * (kDigits - 1 - d)));
        const std::uint32_t correction = correctionOf(plan, fixed.digits[d], sum);
        std::memcpy(to + std::int64_t{4} * height * steps, &correction, 4);
        std::memcpy(to + std::int64_t{4} * height * (steps + 1), &scale, 4);
      }
      isFar |= fixed.isFar;
    }
    return isFar;
  });
  return packed;
}

} // namespace

PackedOperand packDigits(std::span<const float> activations, const ProductPlan& plan,
                         const Execution& execution, PackedOperand&& old) {
  if (plan.digitRows)
    return packDigitRows(activations, plan, execution, std::move(old));
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  assert(rows * plan.depth == static_cast<std::int64_t>(activations.size()));
  PackedOperand packed = emptied(std::move(old), Side::Left, PackedOperand::Storage::Digits);
  packed.rows = rows;
  const int steps = plan.steps();
  const std::int64_t record = std::int64_t{4} * (steps * kDigits + 2);
  packed.elements = PackedBytes(static_cast<std::size_t>(rows * plan.pieces * record),
                                std::move(packed.elements), PackedBytes::Fill::None);
  forFarRows(packed, execution, [&](std::int64_t row) {
    bool isFar = false;
    std::byte* to = packed.elements.data() + row * plan.pieces * record;
    for (std::int64_t p = 0; p < plan.pieces; ++p, to += record) {
      const std::int64_t begin = p * plan.piece;
      const auto size =
          static_cast<int>(std::clamp<std::int64_t>(plan.depth - begin, 0, plan.piece));
      const FixedPoint fixed(activations.data() + row * plan.depth + begin, size);
      for (int s = 0; s < steps; ++s)
        for (int d = 0; d < kDigits; ++d)
          std::memcpy(to + 4 * (s * kDigits + d), fixed.digits[d] + 4 * s, 4);
      const std::uint32_t correction =
          0u - static_cast<std::uint32_t>(plan.offset) * static_cast<std::uint32_t>(fixed.sum);
      std::memcpy(to + 4 * steps * kDigits, &correction, 4);
      std::memcpy(to + 4 * (steps * kDigits + 1), &fixed.scale, 4);
      isFar |= fixed.isFar;
    }
    return isFar;
  });
  return packed;
}

} // namespace octavo::kernels
