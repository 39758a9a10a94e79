#include "octavo/Interpreter/Products/ProductKinds.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

int kindOf(const ElementType& type) { return type.isComplex() ? 2 : type.isFloat() ? 1 : 0; }

} // namespace

ElementType productType(const ElementType& lhs, const ElementType& rhs, const ElementType& result) {
  const int highest = std::max({kindOf(lhs), kindOf(rhs), kindOf(result)});
  if (kindOf(result) == highest)
    return result;
  if (kindOf(lhs) != highest)
    return rhs;
  return kindOf(rhs) != highest || lhs.width() >= rhs.width() ? lhs : rhs;
}

} // namespace octavo::interpreter
