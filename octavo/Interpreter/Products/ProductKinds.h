// Products whose operands and result are of different kinds: integers, floats, complex numbers.
#pragma once

#include "octavo/Interpreter/Tensor/Conversions.h"

namespace octavo::interpreter {

/// The type in which a product of two operands is computed (rule I12): the type of the result,
/// unless an operand is of a higher kind than the result. The kinds are, from low to high:
/// integers, floats, complex numbers. Then it is the type of that operand; of two such operands of
/// different types the wider one. None of the three may be quantized.
ElementType productType(const ElementType& lhs, const ElementType& rhs, const ElementType& result);

/// Calls product(lhs, rhs, type) with operands of one kind and the type to compute in. Operands of
/// a lower kind are converted to that type first, and the product to `result` at the end (rule I7).
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
