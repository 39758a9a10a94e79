// Converts the attributes of convolution and dynamic_conv to those of convolve, and calls it.
#pragma once

#include "octavo/Dialect/StableHLO/Convolution.h"
#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// The convolution of two operands. `padding` has low and high for each spatial axis. An error at
/// `op` if the operands do not fit.
llvm::Expected<Value> convolveOperands(mlir::Operation* op, const Value& lhs, const Value& rhs,
                                       const stablehlo::ConvolutionAttributes& attributes,
                                       llvm::ArrayRef<std::int64_t> padding);

} // namespace octavo::interpreter
