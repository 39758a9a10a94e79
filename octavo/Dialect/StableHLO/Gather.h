// What gather and dynamic_gather have in common, which is all but where the slice sizes come from.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

namespace octavo::stablehlo {

/// The numbers of the constraints in the section of the one or the other.
struct GatherRules {
  llvm::StringLiteral rank, indexVectorDim, startIndexMap, offsetOrder, offsetInside, dropped,
      collapsedOrder, collapsedInside, collapsedSize, batchingOrder, batchingInside, batchingSize,
      startBatchingUnique, startBatchingInside, startBatchingVector, batchingCount, batchingExtents,
      mapUnique, mapInside, sliceCount, sliceSizes;
};

/// Checks the operands and attributes and gives the shape of the result. Slice sizes that are not
/// known are `?`.
llvm::FailureOr<Extents> inferGather(const Checker& check, const GatherRules& rules,
                                     mlir::RankedTensorType operand, mlir::RankedTensorType starts,
                                     GatherDimensionNumbersAttr numbers,
                                     llvm::ArrayRef<Extent> sliceSizes);

/// Checks axes of index tensors that are paired with axes of an operand: `axes` of the operand,
/// `indexAxes` of the indices.
struct IndexBatching {
  llvm::StringRef axesName, indexAxesName;
  llvm::ArrayRef<std::int64_t> axes, indexAxes;
};
struct IndexBatchingRules {
  llvm::StringRef unique, inside, vector, count, extents;
};
llvm::LogicalResult verifyIndexBatching(const Checker& check, const IndexBatchingRules& rules,
                                        const IndexBatching& batching, std::int64_t vectorDim,
                                        mlir::RankedTensorType operand,
                                        mlir::RankedTensorType indices,
                                        llvm::StringRef indicesName);

/// Checks where an index vector lies in the indices and that it has `mapped` numbers.
llvm::LogicalResult verifyIndexVector(const Checker& check, llvm::StringRef dimRule,
                                      llvm::StringRef lengthRule, llvm::StringRef mapName,
                                      llvm::ArrayRef<std::int64_t> map, std::int64_t vectorDim,
                                      mlir::RankedTensorType indices, llvm::StringRef indicesName);

/// a, then b.
inline llvm::SmallVector<std::int64_t> concatenated(llvm::ArrayRef<std::int64_t> a,
                                                    llvm::ArrayRef<std::int64_t> b) {
  llvm::SmallVector<std::int64_t> all(a);
  all.append(b.begin(), b.end());
  return all;
}

} // namespace octavo::stablehlo
