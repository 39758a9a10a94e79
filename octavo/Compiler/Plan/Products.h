// Dots as products of strided matrices in memory, as the kernel library takes them.
#pragma once

#include "octavo/Compiler/Plan/IndexedSlices.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Kernels/Product/PlainProduct.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::compiler {

/// One side of a product in memory: element (b, i, k) is offset + batch[b] + i * stride + k *
/// depthStride elements after the beginning of `memory`. All numbers count elements.
struct MatrixLayout {
  mlir::Value memory;
  std::int64_t offset = 0;
  llvm::SmallVector<std::int64_t> batch;
  std::int64_t stride = 0, depthStride = 1;
  /// The format of a right side's memory if it is not the product's type yet: floats whose values
  /// that type holds, converted when the side is packed. Null: it has the product's type.
  const format::ElementFormat* from = nullptr;
  /// A right side that is a slice of recurring memory: the selection; else empty. `sliceStride` is
  /// the distance between two slices, or between the matrices of two groups.
  IndexedSlices choices = {};
  std::int64_t sliceStride = 0;

  /// Whether a right side is packed before it is multiplied: it is of one product, or a selected
  /// slice.
  bool isPacked() const { return batch.size() == 1 || !choices.empty(); }
};

/// Consecutive runs of rows, whose sizes the program computes; each run is multiplied by a matrix
/// of its own. Rows after the last run give 0.
struct RowGroups {
  mlir::Value sizes;  ///< one integer for each run
  std::int64_t count; ///< number of runs

  friend bool operator==(const RowGroups&, const RowGroups&) = default;
};

/// C[b] = left[b] * right[b]^T. The sides are [rows, depth] and [columns, depth], of one type. C is
/// row-major: int32 for int8, complex for complex, else f32. With groups, the right side is one
/// matrix for each group, one behind the other in each slice.
struct MatrixProduct {
  std::optional<kernels::PlainType> type; ///< nullopt: complex numbers
  std::int64_t rows, depth, columns;
  MatrixLayout left, right;
  std::optional<RowGroups> groups = {}; ///< runs of left rows; nullopt: one matrix for all rows
};

/// Creates the transpose of `value` with its axes in the order `order`.
mlir::Value transposed(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       llvm::ArrayRef<std::int64_t> order);

/// The type in which the kernel library multiplies the sides of `dot`. nullopt: it cannot.
std::optional<kernels::PlainType> plainType(stablehlo::DotGeneralOp dot);

/// A dot as products of matrices: f32 or bf16 to f32, i8 to i32, or complex of one type. nullopt
/// for other types, or if the elements of a side have no such strides in memory.
std::optional<MatrixProduct> matrixProduct(stablehlo::DotGeneralOp dot);

/// The same for a ragged dot whose ragged axis is the only free axis of its left side.
std::optional<MatrixProduct> matrixProduct(chlo::RaggedDotOp dot);

/// Transposes the sides of such a dot: contracted axes last, the ragged axis and the group axis
/// first.
void layOutOperands(chlo::RaggedDotOp dot);

/// Replaces a transpose that exchanges the rows and columns of a dot by the dot of the exchanged
/// sides, which has the same bits (rule P10). It does so only if that copies fewer elements.
void turnProduct(stablehlo::TransposeOp transpose);

/// Transposes the sides of a dot, batch axes first and contracted axes last, if they have no layout
/// that matrixProduct accepts. For a dot inside a kernel: if its loop would not read neighbours.
void layOutOperands(stablehlo::DotGeneralOp dot);

/// Whether `value` is a tensor of f32 with known extents.
bool isF32(mlir::Value value);

/// Whether a side of rank `rank` contracts its last axis alone.
bool contractsLast(llvm::ArrayRef<std::int64_t> contracting, std::size_t rank);
/// Whether the axes are the first ones, in order.
bool areFirst(llvm::ArrayRef<std::int64_t> axes);

} // namespace octavo::compiler
