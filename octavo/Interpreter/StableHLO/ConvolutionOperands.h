// convolution and dynamic_conv: their attributes as the kernel takes them.
#pragma once

#include "octavo/Dialect/StableHLO/Convolution.h"
#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// The convolution of two operands, the padding given as low and high for each spatial axis; an
/// error for `op` where they do not fit together.
llvm::Expected<Value> convolveOperands(mlir::Operation* op, const Value& lhs, const Value& rhs,
                                       const stablehlo::ConvolutionAttributes& attributes,
                                       llvm::ArrayRef<std::int64_t> padding);

} // namespace octavo::interpreter
