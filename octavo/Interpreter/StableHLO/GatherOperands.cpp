#include "octavo/Interpreter/StableHLO/GatherOperands.h"

#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

llvm::Expected<Value> gatherOperands(mlir::Operation* op, const Value& operand,
                                     const Value& startIndices,
                                     stablehlo::GatherDimensionNumbersAttr numbers,
                                     llvm::ArrayRef<std::int64_t> sliceSizes) {
  const GatherDimensions dimensions{.offsetDims = numbers.getOffsetDims().vec(),
                                    .collapsedSliceDims = numbers.getCollapsedSliceDims().vec(),
                                    .operandBatchingDims = numbers.getOperandBatchingDims().vec(),
                                    .startIndicesBatchingDims =
                                        numbers.getStartIndicesBatchingDims().vec(),
                                    .startIndexMap = numbers.getStartIndexMap().vec(),
                                    .indexVectorDim = numbers.getIndexVectorDim()};
  const Tensor& x = operand.tensor();
  const Tensor& starts = startIndices.tensor();
  for (auto [extent, size] : llvm::zip(x.shape, sliceSizes))
    if (size > extent)
      return failure(op, "takes slices of " + llvm::Twine(size) + " of " + describe(operand));
  for (auto [ours, theirs] :
       llvm::zip(dimensions.operandBatchingDims, dimensions.startIndicesBatchingDims))
    if (x.shape[ours] != starts.shape[theirs])
      return failure(op, "pairs batching axes of different extents; found " + describe(operand) +
                             " and " + describe(startIndices));
  const std::int64_t length =
      dimensions.indexVectorDim < static_cast<std::int64_t>(starts.shape.size())
          ? starts.shape[dimensions.indexVectorDim]
          : 1;
  if (length != static_cast<std::int64_t>(dimensions.startIndexMap.size()))
    return failure(op, "takes index vectors of " + llvm::Twine(dimensions.startIndexMap.size()) +
                           " numbers; found " + describe(startIndices));
  if (llvm::Error error = checkResultShape(op, gatheredShape(starts.shape, dimensions, sliceSizes)))
    return std::move(error);
  return Value(gather(x, starts, dimensions, sliceSizes));
}

} // namespace octavo::interpreter
