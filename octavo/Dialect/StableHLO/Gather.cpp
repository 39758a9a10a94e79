#include "octavo/Dialect/StableHLO/Gather.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::failed;
using mlir::failure;
using mlir::RankedTensorType;

using Indices = llvm::ArrayRef<std::int64_t>;

LogicalResult verifyIndexVector(const Checker& check, llvm::StringRef dimRule,
                                llvm::StringRef lengthRule, llvm::StringRef mapName, Indices map,
                                std::int64_t vectorDim, RankedTensorType indices,
                                llvm::StringRef indicesName) {
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return check.violated(dimRule, "index_vector_dim must be in [0, ", indices.getRank(),
                          "], the rank of ", indicesName, " included; found ", vectorDim);
  const Extent length =
      vectorDim < indices.getRank() ? extentsOf(indices)[vectorDim] : Extent::known(1);
  if (!length.isCompatible(Extent::known(static_cast<std::int64_t>(map.size()))))
    return check.violated(lengthRule, mapName, " must have one entry for each of the ",
                          length.spell(), " numbers of an index vector; found ", spell(map));
  return mlir::success();
}

LogicalResult verifyIndexBatching(const Checker& check, const IndexBatchingRules& rules,
                                  const IndexBatching& batching, std::int64_t vectorDim,
                                  RankedTensorType operand, RankedTensorType indices,
                                  llvm::StringRef indicesName) {
  if (failed(check.unique(rules.unique, batching.indexAxesName, batching.indexAxes)) ||
      failed(check.inside(rules.inside, batching.indexAxesName, batching.indexAxes,
                          indices.getRank(), indicesName)))
    return failure();
  if (llvm::is_contained(batching.indexAxes, vectorDim))
    return check.violated(rules.vector, "index_vector_dim ", vectorDim, " must not be in ",
                          batching.indexAxesName, " ", spell(batching.indexAxes));
  if (batching.axes.size() != batching.indexAxes.size())
    return check.violated(rules.count, batching.axesName, " and ", batching.indexAxesName,
                          " must be as many; found ", spell(batching.axes), " and ",
                          spell(batching.indexAxes));
  const Extents ours = extentsOf(operand), theirs = extentsOf(indices);
  for (auto [a, b] : llvm::zip(batching.axes, batching.indexAxes))
    if (!ours[a].isCompatible(theirs[b]))
      return check.violated(rules.extents, "batching axes must have one extent: axis ", a,
                            " of the operand has ", ours[a].spell(), ", axis ", b, " of ",
                            indicesName, " has ", theirs[b].spell());
  return mlir::success();
}

namespace {

/// Verifies that axes which the result drops have slices of at most one element.
LogicalResult verifyDropped(const Checker& check, llvm::StringRef rule, llvm::StringRef name,
                            Indices axes, llvm::ArrayRef<Extent> sliceSizes) {
  for (std::int64_t axis : axes)
    if (sliceSizes[axis].isKnown() && *sliceSizes[axis].largest() > 1)
      return check.violated(rule, "slice_sizes must be at most 1 on axis ", axis, ", which ", name,
                            " names; found ", *sliceSizes[axis].largest());
  return mlir::success();
}

} // namespace

llvm::FailureOr<Extents> inferGather(const Checker& check, const GatherRules& rules,
                                     RankedTensorType operand, RankedTensorType starts,
                                     GatherDimensionNumbersAttr numbers,
                                     llvm::ArrayRef<Extent> sliceSizes) {
  const Indices offset = numbers.getOffsetDims();
  const Indices collapsed = numbers.getCollapsedSliceDims();
  const Indices batching = numbers.getOperandBatchingDims();
  const Indices map = numbers.getStartIndexMap();
  const std::int64_t vectorDim = numbers.getIndexVectorDim();
  const std::int64_t rank = operand.getRank();

  if (rank != static_cast<std::int64_t>(offset.size() + collapsed.size() + batching.size()))
    return check.violated(rules.rank,
                          "offset_dims, collapsed_slice_dims and operand_batching_dims must be as "
                          "many as the operand's ",
                          rank, " axes; found ", spell(offset), ", ", spell(collapsed), " and ",
                          spell(batching));
  if (failed(check.unique(rules.offsetOrder, "offset_dims", offset)) ||
      failed(check.sorted(rules.offsetOrder, "offset_dims", offset)) ||
      failed(check.unique(rules.dropped, "collapsed_slice_dims and operand_batching_dims",
                          concatenated(collapsed, batching))) ||
      failed(check.sorted(rules.collapsedOrder, "collapsed_slice_dims", collapsed)) ||
      failed(check.inside(rules.collapsedInside, "collapsed_slice_dims", collapsed, rank,
                          "the operand")) ||
      failed(check.sorted(rules.batchingOrder, "operand_batching_dims", batching)) ||
      failed(check.inside(rules.batchingInside, "operand_batching_dims", batching, rank,
                          "the operand")) ||
      failed(verifyIndexVector(check, rules.indexVectorDim, rules.startIndexMap, "start_index_map",
                               map, vectorDim, starts, "start_indices")) ||
      failed(verifyIndexBatching(check,
                                 {rules.startBatchingUnique, rules.startBatchingInside,
                                  rules.startBatchingVector, rules.batchingCount,
                                  rules.batchingExtents},
                                 {"operand_batching_dims", "start_indices_batching_dims", batching,
                                  numbers.getStartIndicesBatchingDims()},
                                 vectorDim, operand, starts, "start_indices")) ||
      failed(check.unique(rules.mapUnique, "start_index_map and operand_batching_dims",
                          concatenated(map, batching))) ||
      failed(check.inside(rules.mapInside, "start_index_map", map, rank, "the operand")))
    return failure();
  if (static_cast<std::int64_t>(sliceSizes.size()) != rank)
    return check.violated(rules.sliceCount,
                          "slice_sizes must have one entry for each of the operand's ", rank,
                          " axes; found ", spell(sliceSizes));
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand))) {
    if (!sliceSizes[axis].isKnown())
      continue;
    const std::int64_t size = *sliceSizes[axis].largest();
    if (size < 0 || (extent.largest() && size > *extent.largest()))
      return check.violated(rules.sliceSizes, "slice_sizes must be in [0, ",
                            extent.largest() ? std::to_string(*extent.largest()) : "?",
                            "] on axis ", axis, "; found ", size);
  }
  if (failed(verifyDropped(check, rules.collapsedSize, "collapsed_slice_dims", collapsed,
                           sliceSizes)) ||
      failed(
          verifyDropped(check, rules.batchingSize, "operand_batching_dims", batching, sliceSizes)))
    return failure();

  Extents batchSizes = extentsOf(starts);
  if (vectorDim < starts.getRank())
    batchSizes.erase(batchSizes.begin() + vectorDim);
  Extents offsetSizes;
  for (auto [axis, size] : llvm::enumerate(sliceSizes))
    if (!llvm::is_contained(collapsed, static_cast<std::int64_t>(axis)) &&
        !llvm::is_contained(batching, static_cast<std::int64_t>(axis)))
      offsetSizes.push_back(size);

  const auto resultRank = static_cast<std::int64_t>(batchSizes.size() + offsetSizes.size());
  if (failed(check.inside(rules.offsetInside, "offset_dims", offset, resultRank, "the result")))
    return failure();
  Extents shape;
  const Extent* nextBatch = batchSizes.begin();
  const Extent* nextOffset = offsetSizes.begin();
  for (std::int64_t axis = 0; axis < resultRank; ++axis)
    shape.push_back(llvm::is_contained(offset, axis) ? *nextOffset++ : *nextBatch++);
  return shape;
}

} // namespace octavo::stablehlo
