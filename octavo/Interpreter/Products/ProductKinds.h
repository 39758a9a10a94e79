// Products whose operands and result have different kinds of elements: integers, floats, complex
// numbers.
#pragma once

#include "octavo/Interpreter/Tensor/Conversions.h"

namespace octavo::interpreter {

/// The type in which a product is computed (rule I12). The kinds, from low to high, are integers,
/// floats, complex numbers. The type is `result`, unless an operand has a higher kind: then it is
/// that operand's type, or the wider one if both have. No type may be quantized.
ElementType productType(const ElementType& lhs, const ElementType& rhs, const ElementType& result);

/// Calls product(lhs, rhs, type) with operands of the kind of `type`, the type of the computation.
/// Operands of a lower kind are converted to it first, and the product is converted to `result`
/// (rule I7).
template <typename Product>
Tensor productOfKinds(const Tensor& lhs, const Tensor& rhs, const ElementType& result,
                      Product product) {
  const ElementType type = productType(lhs.type, rhs.type, result);
  const auto isOfKind = [&](const Tensor& operand) {
    return operand.type.isFloat() == type.isFloat() && operand.type.isComplex() == type.isComplex();
  };
  const auto multiplied = [&](const Tensor& left, const Tensor& right) {
    return isOfKind(right) ? product(left, right, type)
                           : product(left, convertElements(right, type), type);
  };
  Tensor found = isOfKind(lhs) ? multiplied(lhs, rhs) : multiplied(convertElements(lhs, type), rhs);
  return found.type == result ? found : convertElements(found, result);
}

} // namespace octavo::interpreter
