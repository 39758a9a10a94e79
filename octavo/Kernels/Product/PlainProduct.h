// Products of plain matrices, C = A * B in f32, of f32 or bf16 (its bits in a std::uint16_t), and
// in int32 of int8, whose sums wrap around and have no order. A is read row-major where it lies; B
// is seen through strides and packed once. docs/semantics.md P10: an element of C is summed from +0
// over K in order, f32 by fused multiply-adds where the set has them, bf16 product by product,
// which is the same then, or pair by pair with AVX512_BF16, by 32 with AMX_BF16. Its bits depend on
// K and the instruction set alone, not on other rows or columns, nor on threads.
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

/// A right operand [depth, columns] in panels of 16 columns, the last one filled up with zeros. The
/// same for every instruction set.
struct PackedMatrix {
  PlainType type = PlainType::F32;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  PackedBytes panels = {};
};

/// Packs value(k, n) = values[k * depthStride + n * columnStride]. The memory of `old`, a matrix
/// that is no longer needed, is used again if it has the same size. Throws std::bad_alloc where
/// there is not enough memory.
PackedMatrix packMatrix(const float* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution = {}, PackedMatrix&& old = {});
PackedMatrix packMatrix(const std::uint16_t* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution = {}, PackedMatrix&& old = {});

PackedMatrix packMatrix(const std::int8_t* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution = {}, PackedMatrix&& old = {});

/// The same of a matrix that is not in memory as a whole. `read(first, count)` gives the elements
/// from number `first` on, which stay until it is called again; null ends it, with nothing. It is
/// asked for about kPieceBytes at a time, one row of the matrix at the least.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
std::optional<PackedMatrix>
packMatrixInPieces(PlainType type, std::int64_t depth, std::int64_t columns,
                   std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                   const std::function<const void*(std::int64_t first, std::int64_t count)>& read);

/// c[m * cStride + n] = sum over k of left[m * leftStride + k] * right(k, n) for m < rows.
void multiplyRows(const float* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, float* c, std::ptrdiff_t cStride,
                  const Execution& execution = {}, RowFinisher finisher = {});
void multiplyRows(const std::uint16_t* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, float* c, std::ptrdiff_t cStride,
                  const Execution& execution = {}, RowFinisher finisher = {});
void multiplyRows(const std::int8_t* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, std::int32_t* c, std::ptrdiff_t cStride,
                  const Execution& execution = {}, RowFinisher finisher = {});

/// A left side whose rows lie in pieces, which may be parts of one another, as what a window of a
/// convolution sees does: of row m, in the order of K, `lengths[p]` elements behind each other from
/// `beginnings[p * rows + m]` on.
struct PiecedRows {
  const float* const* beginnings;
  std::span<const std::int64_t> lengths;
};

/// The same product of such rows, on the calling thread; none of `lengths` is 0.
void multiplyPieces(const PiecedRows& left, std::int64_t rows, const PackedMatrix& right, float* c,
                    std::ptrdiff_t cStride, Isa isa);

/// The products of a batch: [rows, depth] * [depth, columns], their strides in elements.
struct BatchShape {
  std::int64_t rows, depth, columns;
  std::ptrdiff_t leftStride;
  std::ptrdiff_t rightDepthStride, rightColumnStride;
  std::ptrdiff_t cStride;
};
/// Where the matrices of one product begin, in elements.
struct BatchOffsets {
  std::ptrdiff_t left, right, c;
};

/// What right operands are made by while they are multiplied: writes rows `begin` to `end` of the
/// memory that they would lie in to `to`. Called on any thread.
struct RowMaker {
  void (*make)(const void* context, std::int64_t begin, std::int64_t end, std::byte* to) = nullptr;
  const void* context = nullptr;

  void operator()(std::int64_t begin, std::int64_t end, std::byte* to) const {
    make(context, begin, end, to);
  }
};

/// A batch of small products whose right operands are made at run time, as attention's are: each is
/// packed on the way, to memory of the thread. Rows few enough for one tile read f32 with
/// neighbours of a row of B beside each other where they lie, and pack others a tile's columns at a
/// time. The finisher is told of rows product * rows + row.
/// With a maker the right operands are not in memory, `right` is ignored, and the offsets count
/// elements of what would be there: rows of neighbours along the columns or along K, from one row
/// of a product to the next a multiple of them.
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
