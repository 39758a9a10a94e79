// Recognizes comparators of sort that compare keys of both sides.
#pragma once

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace octavo::stablehlo {

/// One comparison: `left`, a function of the left elements, with the same function of the right
/// elements. `left` consists of elementwise operations, constants and the comparator's
/// even-numbered arguments.
struct ComparatorKey {
  mlir::Value left;
  /// Compares by GT, not LT.
  bool isDescending;
  /// Compares with TOTALORDER.
  bool isTotalOrder;
};

/// The comparisons, most significant first. Each compares by LT or GT the same elementwise function
/// of both sides; several are combined as or(lt(a, b), and(eq(a, b), ...)). nullopt for any other
/// comparator.
std::optional<std::vector<ComparatorKey>> comparatorKeys(mlir::Region& comparator);

} // namespace octavo::stablehlo
