// Dots as products of matrices that lie in memory with strides, as the kernels take them.
#pragma once

#include "octavo/Conversion/Steps/MovedSides.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Product/ProductPlan.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::conversion {

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
  Choices choices = {};
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

/// Has a quantization of bf16 or f16 be one of f32, which the kernels have, by optionsOf with the
/// same codes and scales; but the interpreter would not give them where it computes in the type of
/// its input.
void widenInput(ir::QuantizeOp quantize);
/// How a quantization of f32 quantizes, which may have been one of another type.
numerics::QuantizeOptions optionsOf(ir::QuantizeOp quantize);

/// What a quantization to a scaled tensor among the values reads: its operands, or, where a matrix
/// of f32, which the kernels quantize, and its random bits are transposed first, what is
/// transposed.
struct QuantizationSource {
  mlir::Value values, randomBits; ///< the latter ui32 or null
  bool isTransposed;
  std::optional<KeptSlice> kept = {}; ///< where values lie that may come again in other runs
};
QuantizationSource quantizationSource(ir::QuantizeOp op);

/// The products of a batch, whose matrices lie one after the other; or one.
struct ScaledBatch {
  std::int64_t count = 1;
  bool sharesLeftScales = false, sharesRightScales = false; ///< all have the scales of the first
};

/// How a dot of a scaled weight runs on the kernels: the left side f32, or quantized where it is
/// used, or codes and scales in memory, as the right side may be.
struct ScaledProduct {
  kernels::ProductPlan plan;
  ScaledBatch batch;
  ir::QuantizeOp quantize;          ///< of the left side; null: as it is
  ir::PackOp leftParts, rightParts; ///< null where a side is not in parts
  std::optional<MovedSide> moved;   ///< where the right parts come from, if they need not be made
  mlir::Value activations;          ///< [rows, depth] each, f32, or elements
  mlir::Value weight;               ///< [columns, depth] each, scaled
  bool isTransposed;                ///< the weight is [depth, columns] each
  std::int64_t rows, columns;
  std::optional<RowGroups> groups = {}; ///< the weight is [columns, depth] for each

  /// What lies in memory, or among the values; the sizes of groups are of the right side.
  llvm::SmallVector<mlir::Value> leftReads() const;
  llvm::SmallVector<mlir::Value> rightReads() const;
};

/// Nothing where the kernels have no form for it; `why` then says so. Of a dot with the matrices of
/// all groups, of which each row takes what it has of its own and nothing else is read, that.
std::optional<ScaledProduct> scaledProduct(ir::DotGeneralOp dot, std::string* why = nullptr);

/// How many axes of the right side, its first ones, count its matrices.
std::size_t matrixAxes(ir::DotGeneralOp dot);

/// What takes of each row of such a dot what it has of its own group, and is computed with it; null
/// of others.
ir::RowsOfGroupsOp takenWith(ir::DotGeneralOp dot);

/// Has a left side of such a dot that is quantized under scales of more than a row be quantized as
/// a whole, and taken apart.
void takeApart(ir::DotGeneralOp dot);

/// A dot whose two sides are scaled tensors that the program has, and not only values.
struct StoredProduct {
  kernels::ProductPlan plan;
  ScaledBatch batch;
  bool isTransposed; ///< the right side is [depth, columns] each
  std::int64_t rows, columns;
};

/// Nothing where the kernels have no form for it; `why` then says so.
std::optional<StoredProduct> storedProduct(ir::DotGeneralOp dot, std::string* why = nullptr);

/// Whether all that use a quantized tensor are products of one plan, for which it is packed.
bool isPackedForProducts(ir::QuantizeOp op);

/// Whether a side of so many axes is contracted along its last one alone.
bool contractsLast(llvm::ArrayRef<std::int64_t> contracting, std::size_t rank);
/// Whether the axes are the first ones, in order.
bool areFirst(llvm::ArrayRef<std::int64_t> axes);

/// Has what only gives parts other axes be a reshape, which leaves them where they are.
void layOutParts(ir::PackOp op);

/// Whether all that use a scaled tensor are products that take its parts, so that it is never made.
bool isTakenInParts(ir::PackOp op);

} // namespace octavo::conversion
