#include "octavo/Kernels/Product/PlainPacking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace octavo::kernels {

namespace {

using Dwords = std::uint32_t __attribute__((vector_size(16)));

/// Four dwords of each of four columns, to four steps.
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

/// A step of one column: an f32, two bf16 or four int8, of which K may have fewer.
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

} // namespace

template <typename T>
void packPanel(const MatrixView<T>& matrix, std::int64_t panel, std::byte* to) {
  constexpr int kElements = MatrixView<T>::kElements;
  const T* const first = matrix.values + panel * kPanelColumns * matrix.columnStride;
  const auto count = static_cast<int>(
      std::min<std::int64_t>(kPanelColumns, matrix.columns - panel * kPanelColumns));
  const std::int64_t wholeSteps = matrix.depth / kElements, steps = matrix.steps();
  // The columns from `begin` on, from a step on.
  auto packFrom = [&](std::int64_t step, int begin, auto columnStride) {
    for (; step < steps; ++step) {
      const T* from = first + step * kElements * matrix.depthStride;
      std::array<std::uint32_t, kPanelColumns> dwords{};
      for (int column = begin; column < count; ++column)
        dwords[column] =
            dwordOf(from + column * columnStride, matrix.depthStride,
                    std::min<std::int64_t>(kElements, matrix.depth - step * kElements));
      std::memcpy(to + step * kStepBytes + std::int64_t{4} * begin, &dwords[begin],
                  sizeof(std::uint32_t) * (kPanelColumns - begin));
    }
  };
  if (matrix.columnStride == 1)
    return packFrom(0, 0, std::integral_constant<std::ptrdiff_t, 1>{});
  if (matrix.depthStride != 1)
    return packFrom(0, 0, matrix.columnStride);
  const int transposed = count / 4 * 4;
  const std::int64_t transposedSteps = wholeSteps / 4 * 4;
  for (std::int64_t step = 0; step < transposedSteps; step += 4)
    for (int column = 0; column < transposed; column += 4)
      transpose(reinterpret_cast<const std::byte*>(first + column * matrix.columnStride +
                                                   step * kElements),
                matrix.columnStride * static_cast<std::ptrdiff_t>(sizeof(T)),
                to + step * kStepBytes + std::ptrdiff_t{4} * column);
  if (transposed < kPanelColumns)
    packFrom(0, transposed, matrix.columnStride);
  packFrom(transposedSteps, 0, matrix.columnStride);
}

template void packPanel(const MatrixView<float>&, std::int64_t, std::byte*);
template void packPanel(const MatrixView<std::uint16_t>&, std::int64_t, std::byte*);
template void packPanel(const MatrixView<std::int8_t>&, std::int64_t, std::byte*);

} // namespace octavo::kernels
