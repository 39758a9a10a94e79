// Dots of scaled tensors as products of the kernel library. Their sides are quantized by the
// program, packed from codes and scales, or stored scaled tensors.
#pragma once

#include "octavo/Compiler/Plan/GatheredSides.h"
#include "octavo/Compiler/Plan/Products.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Kernels/Product/ProductPlan.h"

namespace octavo::compiler {

/// Converts the input of a bf16 or f16 quantization to f32, which the kernels quantize, and records
/// the type on the operation. optionsOf reads the record, so that codes and scales stay the same.
/// The interpreter does not read it: it would compute in f32 where a rule computes in the input's
/// type.
void widenInput(ir::QuantizeOp quantize);
/// The options of a quantization, with the input type that it had before widenInput.
numerics::QuantizeOptions optionsOf(ir::QuantizeOp quantize);

/// What a quantization that no product packs reads. That is its operands, or the operands of a
/// transpose that the kernel does itself: of an f32 matrix and its random bits.
struct QuantizationSource {
  mlir::Value values, randomBits;     ///< random bits ui32, or null
  bool isTransposed;                  ///< the kernel reads `values` transposed
  std::optional<KeptSlice> kept = {}; ///< where `values` lie, if they recur
};
/// The source of `op`. A quantization that its products pack has its plain operands.
QuantizationSource quantizationSource(ir::QuantizeOp op);

/// The matrices of a batch, one after the other in memory; or one matrix.
struct ScaledBatch {
  std::int64_t count = 1;
  bool sharesLeftScales = false, sharesRightScales = false; ///< all matrices use the first's scales
};

/// A dot of a scaled weight as the kernels run it. Its left side is f32, quantized for the product,
/// or codes and scales in memory. Its right side is a scaled tensor, or codes and scales in memory.
struct ScaledProduct {
  kernels::ProductPlan plan;
  ScaledBatch batch;
  ir::QuantizeOp quantize;              ///< of the left side; null: not quantized here
  ir::PackOp leftParts, rightParts;     ///< null: the side is not packed from parts
  std::optional<GatheredSide> moved;    ///< sources of the right parts; nullopt: they are made
  mlir::Value activations;              ///< the left side's values: f32, or elements of parts
  mlir::Value weight;                   ///< the right side, scaled
  bool isTransposed;                    ///< each matrix of the weight is [depth, columns]
  std::int64_t rows, columns;           ///< of one product
  std::optional<RowGroups> groups = {}; ///< runs of rows; `weight` has a matrix for each

  /// The values that each side reads in memory. The group sizes are among those of the right side.
  llvm::SmallVector<mlir::Value> leftReads() const;
  llvm::SmallVector<mlir::Value> rightReads() const;
};

/// The product of a dot. nullopt if the kernels have no form for it; `why` then says why. A dot
/// over the matrices of all groups whose only reader is a rows_of_groups becomes the grouped
/// product that multiplies each row by its group's matrix alone.
std::optional<ScaledProduct> scaledProduct(ir::DotGeneralOp dot, std::string* why = nullptr);

/// How many leading axes of the right side count its matrices: batch axes, or the axis of groups.
std::size_t matrixAxes(ir::DotGeneralOp dot);

/// The rows_of_groups that is computed together with a grouped product; null for other dots.
ir::RowsOfGroupsOp takenWith(ir::DotGeneralOp dot);

/// For a grouped product whose left side is quantized under scales of more than one row: quantizes
/// the left side as a whole, and packs the product's side from its parts.
void takeApart(ir::DotGeneralOp dot);

/// A dot of two scaled tensors that exist as such when the step runs: neither side is quantized for
/// the product or read as parts.
struct StoredProduct {
  kernels::ProductPlan plan;
  ScaledBatch batch;
  bool isTransposed;          ///< each matrix of the right side is [depth, columns]
  std::int64_t rows, columns; ///< of one product
};

/// The product of a dot. nullopt if the kernels have no form for it; `why` then says why.
std::optional<StoredProduct> storedProduct(ir::DotGeneralOp dot, std::string* why = nullptr);

/// Whether all users of a quantized tensor are products that can read one packed form of it.
bool isPackedForProducts(ir::QuantizeOp op);

/// A cache of isPackedForProducts for this thread, for the object's lifetime: each of the n
/// products that share a quantization asks. The uses of the operations must not change meanwhile.
class KnownPackings {
public:
  KnownPackings();
  ~KnownPackings();
  KnownPackings(const KnownPackings&) = delete;
  KnownPackings& operator=(const KnownPackings&) = delete;

  /// Call this if the uses of the operation that makes `value` have changed.
  void forget(mlir::Value value) { known.erase(value.getDefiningOp()); }

private:
  friend bool isPackedForProducts(ir::QuantizeOp op);
  llvm::DenseMap<mlir::Operation*, bool> known;
  KnownPackings* around; ///< the cache that was active before
};

/// Replaces a broadcast that only adds axes to a part by a reshape, which needs no copy.
void layOutParts(ir::PackOp op);

/// Whether all users of a packed tensor are products that read its parts, so that it is never made.
bool isTakenInParts(ir::PackOp op);

} // namespace octavo::compiler
