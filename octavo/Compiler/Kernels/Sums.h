// Operations whose elements are sums over many elements: windows, convolutions, and dots that the
// kernel library does not multiply. Each element is computed by itself, in the interpreter's order.
#pragma once

#include "octavo/Compiler/Kernels/Elements.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include <string>

namespace octavo::compiler {

/// Why there is no such code for the operation; empty if there is.
std::string whyNoSum(stablehlo::ReduceWindowOp op);
std::string whyNoSum(stablehlo::ConvolutionOp op);
std::string whyNoSum(stablehlo::DotGeneralOp op);

/// Emits element `linear` of each result; of the result.
Elements::Values emitSums(Elements& elements, stablehlo::ReduceWindowOp op, const Index& linear);
llvm::Value* emitSum(Elements& elements, stablehlo::ConvolutionOp op, const Index& linear);
llvm::Value* emitSum(Elements& elements, stablehlo::DotGeneralOp op, const Index& linear);

} // namespace octavo::compiler
