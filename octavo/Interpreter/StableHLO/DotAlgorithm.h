// The algorithms that dot_general may name (rule I12).
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Interpreter/Products/DotGeneral.h"

namespace octavo::interpreter {

/// The product of two float tensors by an algorithm: operands as one to three components of the
/// precision types, partial products of the components summed from the least significant on.
Tensor dotByAlgorithm(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                      const ElementType& result, stablehlo::DotAlgorithmAttr algorithm);

} // namespace octavo::interpreter
