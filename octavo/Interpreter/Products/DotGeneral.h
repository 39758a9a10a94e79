// dot_general of plain tensors (rule I12).
#pragma once

#include "octavo/Interpreter/Products/OperandLayout.h"
#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// The product of two tensors of one kind.
/// - Floats: operands are decoded to the accumulation type; products and sums are rounded in it, in
///   increasing row-major order of the contracted index, from +0; one rounding to `result` at the
///   end.
/// - Integers wrap in `result`. Booleans: the product is `and`, the sum `or`.
/// - Complex numbers: each part of each product (by the formula) and of each sum is rounded to the
///   format of `result`.
/// `accumulation` is f64, f32, f16 or bf16. defaultAccumulation is the type if a program names
/// none.
Tensor dotGeneral(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                  const ElementType& result, const ElementType& accumulation);

/// f64 if any of the three is f64, else f32.
ElementType defaultAccumulation(const ElementType& lhs, const ElementType& rhs,
                                const ElementType& result);

} // namespace octavo::interpreter
