#include "octavo/Kernels/Product/PackedValues.h"

#include "octavo/Kernels/Product/ProductFloat.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace octavo::kernels {

using Storage = PackedOperand::Storage;

void expandPanel(const ProductPlan& plan, const PackedOperand& right, std::int64_t panel,
                 std::int64_t firstGroup, std::int64_t groups, float* to) {
  if (plan.floats) {
    const FloatKernels& kernels = floatKernels(plan.isa, FloatDot::MultiplyAdds);
    const std::int64_t at = (panel * plan.groups + firstGroup) * kPanelColumns;
    return kernels.expand(floatFormat(*plan.right.element, kernels.decodesHalves),
                          reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                              at * kGroup,
                          reinterpret_cast<const float*>(right.scales.data()) + at, kPanelColumns,
                          groups, reinterpret_cast<std::byte*>(to));
  }
  const ProductKernels& kernels = productKernels(plan.isa);
  const std::int64_t piecesInGroup = kGroup / plan.piece;
  const std::int64_t firstPiece = panel * plan.pieces + firstGroup * piecesInGroup;
  if (right.storage == Storage::Nibbles)
    return kernels.nibblesToFloats[piecesInGroup - 1][static_cast<int>(right.scaleCodes)](
        reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
            firstPiece / piecesInGroup * 4 * kStepBytes,
        reinterpret_cast<const std::uint8_t*>(right.scales.data()) + firstPiece * kPanelColumns,
        groups, to);
  kernels.recordsToFloats[plan.dot == Dot::Words](
      {.records = right.elements.data() + firstPiece * kStepBytes * (plan.steps() + 1),
       .pieces = groups * piecesInGroup,
       .steps = plan.steps(),
       .offset = plan.offset,
       .quantum = std::ldexp(1.0f, plan.quantum)},
      to);
}

namespace {

/// The offset of the code at `index` in a group, for row `lane` of `count` interleaved rows.
int placeOfCode(bool isOfPairs, int index, int count, int lane) {
  if (!isOfPairs)
    return index * count + lane;
  const int dword = index / 4 * count + lane;
  return dword / 4 * 16 + dword % 4 * 2 + index % 4 / 2 * 8 + index % 2;
}

/// Reads a row of a float operand: row `lane` of the `count` interleaved rows from `first` on.
void readInterleaved(const ProductPlan& plan, const PackedOperand& operand, std::int64_t first,
                     int count, int lane, double* to, std::int64_t stride) {
  const ElementFormat& element =
      operand.side == Side::Left ? *plan.left.element : *plan.right.element;
  const FloatKernels& kernels = floatKernels(plan);
  const bool isOfPairs = kernels.dot == FloatDot::Bf16Pairs;
  const FloatFormat& format = floatFormat(element, kernels.decodesHalves);
  const auto& magnitudes = decodedValues(element);
  for (std::int64_t g = 0; g < plan.groups; ++g) {
    const std::int64_t group = first * plan.groups + g * count;
    const auto size = static_cast<int>(std::min<std::int64_t>(kGroup, plan.depth - g * kGroup));
    double* const out = to + g * kGroup * stride;
    if (operand.storage == Storage::Codes) {
      const auto* codes =
          reinterpret_cast<const std::uint8_t*>(operand.elements.data()) + group * kGroup;
      const double scale =
          double{reinterpret_cast<const float*>(operand.scales.data())[group + lane]} / format.unit;
      for (int k = 0; k < size; ++k) {
        const std::uint8_t code = codes[placeOfCode(isOfPairs, k, count, lane)];
        const double magnitude = magnitudes[(code & 0x7F) >> format.codeShift];
        out[k * stride] = (code & 0x80 ? -magnitude : magnitude) * scale;
      }
    } else if (!isOfPairs) {
      const auto* values =
          reinterpret_cast<const float*>(operand.elements.data()) + group * kGroup + lane;
      for (int k = 0; k < size; ++k)
        out[k * stride] = values[static_cast<std::ptrdiff_t>(k) * count];
    } else {
      // Decoded ahead: the pairs (k, k + 1) of k = 0, 4, ..., then those of k = 2, 6, ...
      const auto* pairs = reinterpret_cast<const std::uint32_t*>(operand.elements.data()) +
                          group * kernels.groupSteps + lane;
      for (int k = 0; k < size; ++k) {
        const int step = k / 4 + k % 4 / 2 * (kernels.groupSteps / 2);
        const std::uint32_t pair = pairs[static_cast<std::ptrdiff_t>(step) * count];
        out[k * stride] = std::bit_cast<float>(k % 2 == 0 ? pair << 16 : pair & 0xFFFF0000);
      }
    }
  }
}

} // namespace

void readRow(const ProductPlan& plan, const PackedOperand& left, std::int64_t row, double* to) {
  if (plan.left.scale == nullptr) {
    std::copy_n(left.activations + row * left.activationStride, plan.depth, to);
    return;
  }
  assert(plan.floats);
  if (const double* values = left.far.valuesOf(row, plan.depth)) {
    std::copy_n(values, plan.depth, to);
    return;
  }
  const auto [first, height] = Tiling{left.rows, floatKernels(plan).tallest}.tileOf(row);
  readInterleaved(plan, left, first, height, static_cast<int>(row - first), to, 1);
}

void readPanel(const ProductPlan& plan, const PackedOperand& right, std::int64_t panel,
               double* to) {
  if (plan.floats &&
      (right.storage == Storage::Values || floatKernels(plan).dot == FloatDot::Bf16Pairs)) {
    for (int n = 0; n < kPanelColumns; ++n)
      readInterleaved(plan, right, panel * kPanelColumns, kPanelColumns, n, to + n, kPanelColumns);
  } else {
    const std::int64_t groups = (plan.depth + kGroup - 1) / kGroup;
    ThreadVector<float> values(static_cast<std::size_t>(groups * kGroup * kPanelColumns));
    expandPanel(plan, right, panel, 0, groups, values.data());
    std::copy_n(values.data(), plan.depth * kPanelColumns, to);
  }
  for (int n = 0; n < kPanelColumns; ++n)
    if (const double* values = right.far.valuesOf(panel * kPanelColumns + n, plan.depth))
      for (std::int64_t k = 0; k < plan.depth; ++k)
        to[k * kPanelColumns + n] = values[k];
}

} // namespace octavo::kernels
