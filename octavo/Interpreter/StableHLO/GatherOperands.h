// Evaluates gather and dynamic_gather: checks what the types leave unknown, then calls the kernel.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// The gathered tensor, or an error at `op` if operands and slice sizes do not fit.
llvm::Expected<Value> gatherOperands(mlir::Operation* op, const Value& operand,
                                     const Value& startIndices,
                                     stablehlo::GatherDimensionNumbersAttr numbers,
                                     llvm::ArrayRef<std::int64_t> sliceSizes);

} // namespace octavo::interpreter
