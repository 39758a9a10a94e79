// A matrix of codes to its transpose.
#pragma once

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/generic/Stream.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

using Bytes16 = VectorOf<std::uint8_t, 16>;

template <int... kByte> struct Interleave {
  static OCTAVO_INLINE Bytes16 low(Bytes16 a, Bytes16 b) {
    return __builtin_shufflevector(a, b, (kByte / 2 + kByte % 2 * 16)...);
  }
  static OCTAVO_INLINE Bytes16 high(Bytes16 a, Bytes16 b) {
    return __builtin_shufflevector(a, b, (8 + kByte / 2 + kByte % 2 * 16)...);
  }
};
template <typename T, T... kValues> struct Interleaved {
  using Type = Interleave<kValues...>;
};

/// 8 rows of 16 to 16 columns of 8, two in each vector. Each level interleaves row i with row i +
/// 4, so that the bits of a byte's place (3 of its row, 4 of its column) turn by one; after three
/// the row's come last. Sixteen rows would take more registers than there are.
OCTAVO_INLINE void transpose8(Bytes16 (&rows)[8]) {
  using By16 = typename __make_integer_seq<Interleaved, int, 16>::Type;
  for (int level = 0; level < 3; ++level) {
    Bytes16 next[8];
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = By16::low(rows[i], rows[i + 4]);
      next[2 * i + 1] = By16::high(rows[i], rows[i + 4]);
    }
    for (int i = 0; i < 8; ++i)
      rows[i] = next[i];
  }
}

/// At most kTransposedRows rows, which become as long pieces of the transpose's rows.
static void transposeCodes(const TransposeArguments& matrix) {
  const std::size_t wholeRows = matrix.rows / 8 * 8;
  const bool streaming = matrix.stores == Stores::Streaming && isAligned(matrix.to) &&
                         matrix.toStride % kVectorBytes == 0 && matrix.rows % kVectorBytes == 0;
  std::size_t c = 0;
  for (; c + 16 <= matrix.columns; c += 16) {
    alignas(64) std::uint8_t columns[16][kTransposedRows]; // whole lines leave at once
    for (std::size_t r = 0; r < wholeRows; r += 8) {
      Bytes16 rows[8];
      for (std::size_t i = 0; i < 8; ++i)
        rows[i] = load<Bytes16>(matrix.from + (r + i) * matrix.fromStride + c);
      transpose8(rows);
      for (std::size_t i = 0; i < 8; ++i) {
        store(columns[2 * i] + r,
              __builtin_shufflevector(rows[i], rows[i], 0, 1, 2, 3, 4, 5, 6, 7));
        store(columns[2 * i + 1] + r,
              __builtin_shufflevector(rows[i], rows[i], 8, 9, 10, 11, 12, 13, 14, 15));
      }
    }
    for (std::size_t r = wholeRows; r < matrix.rows; ++r)
      for (std::size_t i = 0; i < 16; ++i)
        columns[i][r] = matrix.from[r * matrix.fromStride + c + i];
    for (std::size_t i = 0; i < 16; ++i) {
      std::uint8_t* to = matrix.to + (c + i) * matrix.toStride;
      if (streaming)
        for (std::size_t r = 0; r < matrix.rows; r += kVectorBytes)
          storeStreaming(to + r, load<U8>(columns[i] + r));
      else
        __builtin_memcpy(to, columns[i], matrix.rows);
    }
  }
  for (; c < matrix.columns; ++c)
    for (std::size_t r = 0; r < matrix.rows; ++r)
      matrix.to[c * matrix.toStride + r] = matrix.from[r * matrix.fromStride + c];
  if (streaming)
    finishStreaming();
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
