// The verification that gather and dynamic_gather share. They differ in where the slice sizes come
// from: an attribute or an operand.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

namespace octavo::stablehlo {

/// The numbers of the constraints in the operation's section of the specification.
struct GatherRules {
  llvm::StringLiteral rank, indexVectorDim, startIndexMap, offsetOrder, offsetInside, dropped,
      collapsedOrder, collapsedInside, collapsedSize, batchingOrder, batchingInside, batchingSize,
      startBatchingUnique, startBatchingInside, startBatchingVector, batchingCount, batchingExtents,
      mapUnique, mapInside, sliceCount, sliceSizes;
};

/// Verifies the operands and attributes and returns the extents of the result. Unknown slice sizes
/// give unknown extents.
llvm::FailureOr<Extents> inferGather(const Checker& check, const GatherRules& rules,
                                     mlir::RankedTensorType operand, mlir::RankedTensorType starts,
                                     GatherDimensionNumbersAttr numbers,
                                     llvm::ArrayRef<Extent> sliceSizes);

/// Batching axes: `axes` of the operand, paired with `indexAxes` of the index tensor, and the names
/// of both attributes.
struct IndexBatching {
  llvm::StringRef axesName, indexAxesName;
  llvm::ArrayRef<std::int64_t> axes, indexAxes;
};
/// The numbers of the constraints on them.
struct IndexBatchingRules {
  llvm::StringRef unique, inside, vector, count, extents;
};
/// Verifies the batching axes: unique, inside the index tensor, different from `vectorDim`, as many
/// on both sides, with equal extents. `indicesName` names the index tensor in errors.
llvm::LogicalResult verifyIndexBatching(const Checker& check, const IndexBatchingRules& rules,
                                        const IndexBatching& batching, std::int64_t vectorDim,
                                        mlir::RankedTensorType operand,
                                        mlir::RankedTensorType indices,
                                        llvm::StringRef indicesName);

/// Verifies that `vectorDim` is an axis of the indices or its rank, and that index vectors have one
/// number for each entry of `map`.
llvm::LogicalResult verifyIndexVector(const Checker& check, llvm::StringRef dimRule,
                                      llvm::StringRef lengthRule, llvm::StringRef mapName,
                                      llvm::ArrayRef<std::int64_t> map, std::int64_t vectorDim,
                                      mlir::RankedTensorType indices, llvm::StringRef indicesName);

/// The numbers of `a`, then those of `b`.
inline llvm::SmallVector<std::int64_t> concatenated(llvm::ArrayRef<std::int64_t> a,
                                                    llvm::ArrayRef<std::int64_t> b) {
  llvm::SmallVector<std::int64_t> all(a);
  all.append(b.begin(), b.end());
  return all;
}

} // namespace octavo::stablehlo
