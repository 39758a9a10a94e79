// The algorithms that dot_general can name (rule I12).
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Interpreter/Products/DotGeneral.h"

namespace octavo::interpreter {

/// The product of two float tensors by `algorithm`. Each operand is split into one to three
/// components of its precision type, and the partial products of components are summed from the
/// least significant on.
Tensor dotByAlgorithm(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                      const ElementType& result, stablehlo::DotAlgorithmAttr algorithm);

} // namespace octavo::interpreter
