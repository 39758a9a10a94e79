// Packing of right operands of PlainProduct.h into panels.
#pragma once

#include "octavo/Kernels/Product/ProductKernels.h"

#include <cstddef>
#include <cstdint>
#include <new>

namespace octavo::kernels {

/// A matrix [depth, columns] with strides in elements.
template <typename T> struct MatrixView {
  const T* values = nullptr;
  std::int64_t depth = 0, columns = 0;
  std::ptrdiff_t depthStride = 0, columnStride = 0;

  static constexpr int kElements = 4 / sizeof(T); ///< elements along K in a dword
  std::int64_t steps() const { return depth / kElements + (depth % kElements != 0); }
  std::int64_t panels() const { return columns / kPanelColumns + (columns % kPanelColumns != 0); }
  std::int64_t panelBytes() const { return steps() * kStepBytes; }
  /// Bytes of all panels. Throws std::bad_alloc if they exceed std::int64_t.
  std::size_t packedBytes() const {
    std::int64_t bytes;
    if (__builtin_mul_overflow(steps(), std::int64_t{kStepBytes}, &bytes) ||
        __builtin_mul_overflow(bytes, panels(), &bytes))
      throw std::bad_alloc();
    return static_cast<std::size_t>(bytes);
  }
};

/// Packs panels `begin` to `end` (exclusive) of the matrix to `to`, `panelBytes` apart.
template <typename T>
void packPanels(const MatrixView<T>& matrix, std::int64_t begin, std::int64_t end, std::byte* to,
                std::int64_t panelBytes);

} // namespace octavo::kernels
