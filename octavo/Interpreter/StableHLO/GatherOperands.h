// gather and dynamic_gather: what their types leave open is checked, then the kernel runs.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// The gathered tensor, or an error for `op` where operands and slice sizes do not fit together.
llvm::Expected<Value> gatherOperands(mlir::Operation* op, const Value& operand,
                                     const Value& startIndices,
                                     stablehlo::GatherDimensionNumbersAttr numbers,
                                     llvm::ArrayRef<std::int64_t> sliceSizes);

} // namespace octavo::interpreter
