// Products of plain matrices, C = A * B. f32 and bf16 operands give f32 (bf16 is given by its bits
// in a std::uint16_t); int8 operands give int32. A is read row-major where it lies; B is read
// through strides and packed once.
//
// Each element of C is summed from +0 over K in order (docs/semantics.md, P10):
//  - f32: by fused multiply-adds on sets that have them
//  - bf16: product by product, with the same bits as f32; pair by pair with AVX512_BF16; by 32 with
//    AMX_BF16
//  - int8: sums wrap around, so their order does not matter
// The bits of an element depend on its row, its column, K and the instruction set, and not on other
// rows or columns, or on threads.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/RowFinisher.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace octavo::kernels {

enum class PlainType : std::uint8_t { F32, Bf16, Int8 };

/// A right operand [depth, columns] in panels of 16 columns; the last panel is padded with zeros.
/// The layout is the same for every instruction set.
struct PackedMatrix {
  PlainType type = PlainType::F32;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  PackedBytes panels = {};
};

/// Packs value(k, n) = values[k * depthStride + n * columnStride]. The result reuses the memory of
/// `old` if that has the same size. Throws std::bad_alloc if memory runs out.
PackedMatrix packMatrix(const float* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution = {}, PackedMatrix&& old = {});
PackedMatrix packMatrix(const std::uint16_t* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution = {}, PackedMatrix&& old = {});

PackedMatrix packMatrix(const std::int8_t* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution = {}, PackedMatrix&& old = {});

/// As packMatrix, for a matrix that is not in memory as a whole. `read(first, count)` returns the
/// `count` elements from index `first` on, valid until the next call. If it returns null, packing
/// stops and the result is nullopt. A call reads about kPieceBytes, at least a dword of K or a
/// panel of columns.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
std::optional<PackedMatrix>
packMatrixInPieces(PlainType type, std::int64_t depth, std::int64_t columns,
                   std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                   const std::function<const void*(std::int64_t first, std::int64_t count)>& read);

/// Computes c[m * cStride + n] = sum over k of left[m * leftStride + k] * right(k, n) for m < rows.
/// Strides are in elements. `finisher` is called on finished rows of C.
void multiplyRows(const float* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, float* c, std::ptrdiff_t cStride,
                  const Execution& execution = {}, RowFinisher finisher = {});
void multiplyRows(const std::uint16_t* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, float* c, std::ptrdiff_t cStride,
                  const Execution& execution = {}, RowFinisher finisher = {});
void multiplyRows(const std::int8_t* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, std::int32_t* c, std::ptrdiff_t cStride,
                  const Execution& execution = {}, RowFinisher finisher = {});

/// A left side whose rows lie in pieces, which may overlap, such as the windows of a convolution.
/// Piece p of row m, in order of K, has `lengths[p]` contiguous elements from
/// `beginnings[p * rows + m]` on.
struct PiecedRows {
  const float* const* beginnings;
  std::span<const std::int64_t> lengths;
};

/// As multiplyRows for rows in pieces, on the calling thread. No length is 0.
void multiplyPieces(const PiecedRows& left, std::int64_t rows, const PackedMatrix& right, float* c,
                    std::ptrdiff_t cStride, Isa isa);

/// The products of a batch: [rows, depth] * [depth, columns], their strides in elements.
struct BatchShape {
  std::int64_t rows, depth, columns;
  std::ptrdiff_t leftStride;
  std::ptrdiff_t rightDepthStride, rightColumnStride;
  std::ptrdiff_t cStride;
};
/// Offsets of the matrices of one product, in elements.
struct BatchOffsets {
  std::ptrdiff_t left, right, c;
};

/// A callback that produces right operands while they are multiplied. It writes rows `begin` to
/// `end` (exclusive) of the right operands' memory to `to`. It is called on any thread.
struct RowMaker {
  void (*make)(const void* context, std::int64_t begin, std::int64_t end, std::byte* to) = nullptr;
  const void* context = nullptr;

  void operator()(std::int64_t begin, std::int64_t end, std::byte* to) const {
    make(context, begin, end, to);
  }
};

/// Multiplies a batch of small products whose right operands are made at run time, such as those of
/// attention. Each right operand is packed to the thread's memory during the product. If the rows
/// fit one tile, an f32 right operand with contiguous rows is read where it lies, and any other is
/// packed a tile's columns at a time. `finisher` receives rows numbered product * rows + row.
///
/// With a maker, the right operands are not in memory and `right` is ignored. The offsets then
/// count elements of the memory that the operands would have: rows that are contiguous along the
/// columns or along K. The stride between rows is a multiple of their length.
void multiplyBatch(const float* left, const float* right, float* c, const BatchShape& shape,
                   std::span<const BatchOffsets> products, const Execution& execution = {},
                   RowFinisher finisher = {}, RowMaker maker = {});
void multiplyBatch(const std::uint16_t* left, const std::uint16_t* right, float* c,
                   const BatchShape& shape, std::span<const BatchOffsets> products,
                   const Execution& execution = {}, RowFinisher finisher = {}, RowMaker maker = {});
void multiplyBatch(const std::int8_t* left, const std::int8_t* right, std::int32_t* c,
                   const BatchShape& shape, std::span<const BatchOffsets> products,
                   const Execution& execution = {}, RowFinisher finisher = {});

} // namespace octavo::kernels
