// Dots of scaled tensors as products of the kernel library, of what is quantized, packed, or
// stored.
#pragma once

#include "octavo/Compiler/Plan/GatheredSides.h"
#include "octavo/Compiler/Plan/Products.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Kernels/Product/ProductPlan.h"

namespace octavo::compiler {

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
  ir::QuantizeOp quantize;           ///< of the left side; null: as it is
  ir::PackOp leftParts, rightParts;  ///< null where a side is not in parts
  std::optional<GatheredSide> moved; ///< where the right parts come from, if they need not be made
  mlir::Value activations;           ///< [rows, depth] each, f32, or elements
  mlir::Value weight;                ///< [columns, depth] each, scaled
  bool isTransposed;                 ///< the weight is [depth, columns] each
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

/// While it lives, its thread keeps what isPackedForProducts says of an operation, whose uses do
/// not change meanwhile: of one that n products use, each asks.
class KnownPackings {
public:
  KnownPackings();
  ~KnownPackings();
  KnownPackings(const KnownPackings&) = delete;
  KnownPackings& operator=(const KnownPackings&) = delete;

  /// The uses of what gives a value have changed.
  void forget(mlir::Value value) { known.erase(value.getDefiningOp()); }

private:
  friend bool isPackedForProducts(ir::QuantizeOp op);
  llvm::DenseMap<mlir::Operation*, bool> known;
  KnownPackings* around;
};

/// Has what only gives parts other axes be a reshape, which leaves them where they are.
void layOutParts(ir::PackOp op);

/// Whether all that use a scaled tensor are products that take its parts, so that it is never made.
bool isTakenInParts(ir::PackOp op);

} // namespace octavo::compiler
