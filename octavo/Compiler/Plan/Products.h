// Dots as products of matrices that lie in memory with strides, as the kernels take them.
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

/// One side of a product where it lies: element (b, i, k) is offset + batch[b] + i * stride + k *
/// depthStride elements after the beginning of `memory`.
struct MatrixLayout {
  mlir::Value memory;
  std::int64_t offset = 0;
  llvm::SmallVector<std::int64_t> batch;
  std::int64_t stride = 0, depthStride = 1;
  /// Of a right side whose memory are floats of another type, not yet converted to the product's,
  /// which holds them: their format.
  const format::ElementFormat* from = nullptr;
  /// Of a right side that is one of several slices of memory that comes again: which. So far apart
  /// are they, or the matrices of groups.
  IndexedSlices choices = {};
  std::int64_t sliceStride = 0;

  /// Whether it is packed before it is multiplied: that of one product, or one of several slices.
  bool isPacked() const { return batch.size() == 1 || !choices.empty(); }
};

/// Rows in runs, of sizes that the program computes, each of which is multiplied by a matrix of its
/// own; rows beyond them give 0.
struct RowGroups {
  mlir::Value sizes;
  std::int64_t count;

  friend bool operator==(const RowGroups&, const RowGroups&) = default;
};

/// C[b] = left[b] * right[b]^T, [rows, depth] and [columns, depth] of one type; C is row-major,
/// f32, of int8 int32, of complex numbers their type. With groups of rows, the right side is a
/// matrix for each, which lie, in each of its slices, one behind the other.
struct MatrixProduct {
  std::optional<kernels::PlainType> type; ///< nothing: complex numbers
  std::int64_t rows, depth, columns;
  MatrixLayout left, right;
  std::optional<RowGroups> groups = {};
};

/// The tensor with its axes in this order.
mlir::Value transposed(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       llvm::ArrayRef<std::int64_t> order);

/// The type of both sides of a dot, where the kernels multiply matrices of it.
std::optional<kernels::PlainType> plainType(stablehlo::DotGeneralOp dot);

/// A dot of f32 or bf16 to f32, of i8 to i32, or of complex numbers of one type, as products of
/// matrices; nothing for other types, and where an operand lies so that a side is no matrix.
std::optional<MatrixProduct> matrixProduct(stablehlo::DotGeneralOp dot);

/// The same of a dot whose ragged axis is the one free axis of its left side.
std::optional<MatrixProduct> matrixProduct(chlo::RaggedDotOp dot);

/// Has such a dot be of sides with their contracted axes last, the ragged one and that of the
/// groups first.
void layOutOperands(chlo::RaggedDotOp dot);

/// Has a transpose that turns the rows of a dot of the kernels' types into columns be a dot of
/// the same bits whose sides have changed places (rule P10), where less is laid out in memory then.
void turnProduct(stablehlo::TransposeOp transpose);

/// Has the operands of a dot laid out batch axes first, contracted ones last, where it has none of
/// these forms: matrixProduct is then something, and a kernel's loop goes over neighbours.
void layOutOperands(stablehlo::DotGeneralOp dot);

/// Whether it is a tensor of f32 of known extents.
bool isF32(mlir::Value value);

/// Whether a side of so many axes is contracted along its last one alone.
bool contractsLast(llvm::ArrayRef<std::int64_t> contracting, std::size_t rank);
/// Whether the axes are the first ones, in order.
bool areFirst(llvm::ArrayRef<std::int64_t> axes);

} // namespace octavo::compiler
