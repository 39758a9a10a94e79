// What a comparator compares: most sort by the order of one or a few numbers for each element,
// which are computed once instead of in each comparison.
#pragma once

#include "octavo/Interpreter/Evaluation.h"

#include "mlir/IR/Region.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::interpreter {

/// For each element a number whose order is that of the comparator; ties go on to the next key.
using SortKeys = std::vector<std::vector<std::int64_t>>;

/// The keys of a comparator that compares, by LT or GT, the same elementwise function of either
/// side, or several such one after the other: or(lt(a, b), and(eq(a, b), ...)). Nothing for any
/// other comparator, and where IEEE comparisons meet a NaN.
llvm::Expected<std::optional<SortKeys>> sortKeys(mlir::Region& comparator, const Operands& inputs,
                                                 Evaluation& evaluation);

/// The total order of IEEE 754 as integers (rule I9), for each element of a float tensor; the
/// values of an integer tensor. Descending orders have all bits flipped.
std::vector<std::int64_t> totalOrderKeys(const Tensor& tensor, bool isDescending);

} // namespace octavo::interpreter
