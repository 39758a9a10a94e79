// What a comparator compares, where that is a number of each side or several.
#pragma once

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace octavo::stablehlo {

/// One comparison of a comparator: of `left`, a function of the left elements, with the same
/// function of the right ones. It is made of elementwise operations on scalars, constants and the
/// comparator's arguments of even number.
struct ComparatorKey {
  mlir::Value left;
  bool isDescending;
  bool isTotalOrder;
};

/// The comparisons, first to last, of a comparator that compares, by LT or GT, the same elementwise
/// function of either side, or several such one after the other: or(lt(a, b), and(eq(a, b), ...)).
/// Nothing for any other.
std::optional<std::vector<ComparatorKey>> comparatorKeys(mlir::Region& comparator);

} // namespace octavo::stablehlo
