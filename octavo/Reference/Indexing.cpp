// StableHLO, indexing family: operations whose places come from data.
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Movement.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::reference {

namespace {

llvm::Expected<Value> evaluateGather(stablehlo::GatherOp op, const Operands& operands,
                                     Evaluation&) {
  const stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  const GatherDimensions dimensions{.offsetDims = numbers.getOffsetDims().vec(),
                                    .collapsedSliceDims = numbers.getCollapsedSliceDims().vec(),
                                    .operandBatchingDims = numbers.getOperandBatchingDims().vec(),
                                    .startIndicesBatchingDims =
                                        numbers.getStartIndicesBatchingDims().vec(),
                                    .startIndexMap = numbers.getStartIndexMap().vec(),
                                    .indexVectorDim = numbers.getIndexVectorDim()};
  const Tensor& x = operands[0].tensor();
  const Tensor& starts = operands[1].tensor();
  for (auto [extent, size] : llvm::zip(x.shape, op.getSliceSizes()))
    if (size > extent)
      return failure(op, "takes slices of " + llvm::Twine(size) + " of " + describe(operands[0]));
  for (auto [ours, theirs] :
       llvm::zip(dimensions.operandBatchingDims, dimensions.startIndicesBatchingDims))
    if (x.shape[ours] != starts.shape[theirs])
      return failure(op, "pairs batching axes of different extents; found " +
                             describe(operands[0]) + " and " + describe(operands[1]));
  const std::int64_t length =
      dimensions.indexVectorDim < static_cast<std::int64_t>(starts.shape.size())
          ? starts.shape[dimensions.indexVectorDim]
          : 1;
  if (length != static_cast<std::int64_t>(dimensions.startIndexMap.size()))
    return failure(op, "takes index vectors of " + llvm::Twine(dimensions.startIndexMap.size()) +
                           " numbers; found " + describe(operands[1]));
  if (llvm::Error error =
          checkSize(op, gatheredShape(starts.shape, dimensions, op.getSliceSizes())))
    return std::move(error);
  return Value(gather(x, starts, dimensions, op.getSliceSizes()));
}

} // namespace

void registerIndexing(EvaluatorTable& table) { table.add<evaluateGather>(); }

} // namespace octavo::reference
