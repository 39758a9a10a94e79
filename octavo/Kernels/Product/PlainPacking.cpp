#include "octavo/Kernels/Product/PlainPacking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace octavo::kernels {

namespace {

using Dwords = std::uint32_t __attribute__((vector_size(16)));

/// Transposes four dwords of each of four columns to four steps.
void transpose(const std::byte* from, std::ptrdiff_t columnBytes, std::byte* to) {
  Dwords c[4];
  for (int i = 0; i < 4; ++i)
    std::memcpy(&c[i], from + i * columnBytes, sizeof c[i]);
  const Dwords low0 = __builtin_shufflevector(c[0], c[1], 0, 4, 1, 5);
  const Dwords low1 = __builtin_shufflevector(c[2], c[3], 0, 4, 1, 5);
  const Dwords high0 = __builtin_shufflevector(c[0], c[1], 2, 6, 3, 7);
  const Dwords high1 = __builtin_shufflevector(c[2], c[3], 2, 6, 3, 7);
  const Dwords steps[4] = {__builtin_shufflevector(low0, low1, 0, 1, 4, 5),
                           __builtin_shufflevector(low0, low1, 2, 3, 6, 7),
                           __builtin_shufflevector(high0, high1, 0, 1, 4, 5),
                           __builtin_shufflevector(high0, high1, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    std::memcpy(to + i * kStepBytes, &steps[i], sizeof steps[i]);
}

constexpr std::integral_constant<std::ptrdiff_t, 1> kNeighbour;
constexpr std::integral_constant<int, kPanelColumns> kWholePanel;

/// A step of one column: an f32, two bf16 or four int8; at the end of K perhaps fewer.
std::uint32_t dwordOf(const float* value, std::ptrdiff_t, std::int64_t) {
  return std::bit_cast<std::uint32_t>(*value);
}
std::uint32_t dwordOf(const std::uint16_t* value, std::ptrdiff_t depthStride, std::int64_t count) {
  return *value | (count > 1 ? std::uint32_t{value[depthStride]} << 16 : 0);
}
std::uint32_t dwordOf(const std::int8_t* value, std::ptrdiff_t depthStride, std::int64_t count) {
  std::uint32_t dword = 0;
  for (std::int64_t k = 0; k < count; ++k)
    dword |= std::uint32_t{static_cast<std::uint8_t>(value[k * depthStride])} << (8 * k);
  return dword;
}

/// Packs steps `begin` to `end` of columns `first` to `columns` of a panel whose first element is
/// `from`. The columns after them become zeros.
template <typename T, typename Columns, typename Stride>
void packSteps(const MatrixView<T>& matrix, const T* from, std::int64_t begin, std::int64_t end,
               int first, Columns columns, Stride columnStride, std::byte* to) {
  constexpr int kElements = MatrixView<T>::kElements;
  for (std::int64_t step = begin; step < end; ++step) {
    const T* const values = from + step * kElements * matrix.depthStride;
    std::array<std::uint32_t, kPanelColumns> dwords{};
    for (int column = first; column < columns; ++column)
      dwords[static_cast<std::size_t>(column)] =
          dwordOf(values + column * columnStride, matrix.depthStride,
                  std::min<std::int64_t>(kElements, matrix.depth - step * kElements));
    std::memcpy(to + step * kStepBytes + std::ptrdiff_t{4} * first,
                &dwords[static_cast<std::size_t>(first)],
                sizeof(std::uint32_t) * static_cast<std::size_t>(kPanelColumns - first));
  }
}

/// Packs columns with contiguous elements.
template <typename T>
void packContiguousColumns(const MatrixView<T>& matrix, const T* from, int columns, std::byte* to) {
  // One cache line of each column at a time: columns a power of two apart evict each other.
  constexpr std::int64_t kLine = 64 / sizeof(std::uint32_t);
  constexpr int kElements = MatrixView<T>::kElements;
  const int transposed = columns / 4 * 4;
  const std::int64_t steps = matrix.depth / kElements / 4 * 4;
  for (std::int64_t line = 0; line < steps; line += kLine)
    for (int column = 0; column < transposed; column += 4)
      for (std::int64_t step = line; step < std::min(line + kLine, steps); step += 4)
        transpose(reinterpret_cast<const std::byte*>(from + column * matrix.columnStride +
                                                     step * kElements),
                  matrix.columnStride * static_cast<std::ptrdiff_t>(sizeof(T)),
                  to + step * kStepBytes + std::ptrdiff_t{4} * column);
  if (transposed < kPanelColumns)
    packSteps(matrix, from, 0, steps, transposed, columns, matrix.columnStride, to);
  packSteps(matrix, from, steps, matrix.steps(), 0, columns, matrix.columnStride, to);
}

} // namespace

template <typename T>
void packPanels(const MatrixView<T>& matrix, std::int64_t begin, std::int64_t end, std::byte* to,
                std::int64_t panelBytes) {
  const auto forPanels = [&](auto f) {
    for (std::int64_t panel = begin; panel < end; ++panel)
      f(matrix.values + panel * kPanelColumns * matrix.columnStride,
        static_cast<int>(
            std::min<std::int64_t>(kPanelColumns, matrix.columns - panel * kPanelColumns)),
        to + (panel - begin) * panelBytes);
  };
  if (matrix.columnStride != 1 && matrix.depthStride == 1)
    return forPanels([&](const T* from, int columns, std::byte* panel) {
      packContiguousColumns(matrix, from, columns, panel);
    });
  // Few enough that the TLB still has their pages for the next panel.
  constexpr std::int64_t kSteps = 32;
  for (std::int64_t step = 0; step < matrix.steps(); step += kSteps)
    forPanels([&](const T* from, int columns, std::byte* panel) {
      const std::int64_t last = std::min(step + kSteps, matrix.steps());
      if (matrix.columnStride != 1)
        packSteps(matrix, from, step, last, 0, columns, matrix.columnStride, panel);
      else if (columns < kPanelColumns)
        packSteps(matrix, from, step, last, 0, columns, kNeighbour, panel);
      else
        packSteps(matrix, from, step, last, 0, kWholePanel, kNeighbour, panel);
    });
}

template void packPanels(const MatrixView<float>&, std::int64_t, std::int64_t, std::byte*,
                         std::int64_t);
template void packPanels(const MatrixView<std::uint16_t>&, std::int64_t, std::int64_t, std::byte*,
                         std::int64_t);
template void packPanels(const MatrixView<std::int8_t>&, std::int64_t, std::int64_t, std::byte*,
                         std::int64_t);

} // namespace octavo::kernels
