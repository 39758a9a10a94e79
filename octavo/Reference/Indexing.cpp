// StableHLO, indexing family: operations whose places come from data.
#include "octavo/Dialect/StableHLO/StableHLO.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Movement.h"

namespace octavo::reference {

namespace {

llvm::Expected<Value> evaluateGather(stablehlo::GatherOp op, const Operands& operands,
                                     Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  const stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  const GatherDimensions dimensions{.offsetDims = numbers.getOffsetDims().vec(),
                                    .collapsedSliceDims = numbers.getCollapsedSliceDims().vec(),
                                    .operandBatchingDims = numbers.getOperandBatchingDims().vec(),
                                    .startIndicesBatchingDims =
                                        numbers.getStartIndicesBatchingDims().vec(),
                                    .startIndexMap = numbers.getStartIndexMap().vec(),
                                    .indexVectorDim = numbers.getIndexVectorDim()};
  return Value(gather(operands[0].tensor(), operands[1].tensor(), dimensions, op.getSliceSizes(),
                      result->shape));
}

} // namespace

void registerIndexing(EvaluatorTable& table) { table.add<evaluateGather>(); }

} // namespace octavo::reference
