// Sort keys. Most comparators compare one or a few numbers of each element. These are computed once
// for each element instead of in each comparison.
#pragma once

#include "octavo/Interpreter/Evaluation.h"

#include "mlir/IR/Region.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::interpreter {

/// keys[k][i] is a number for element i, ordered as the comparator orders. Ties of key k are
/// decided by key k + 1.
using SortKeys = std::vector<std::vector<std::int64_t>>;

/// The keys of a comparator that compares, by LT or GT, the same elementwise function of both
/// sides, or several functions combined as or(lt(a, b), and(eq(a, b), ...)). nullopt for any other
/// comparator, or if an IEEE comparison would meet a NaN.
llvm::Expected<std::optional<SortKeys>> sortKeys(mlir::Region& comparator, const Operands& inputs,
                                                 Evaluation& evaluation);

/// For a float tensor, integers in the total order of IEEE 754 (rule I9); for an integer tensor,
/// its values. If `isDescending`, all bits are flipped.
std::vector<std::int64_t> totalOrderKeys(const Tensor& tensor, bool isDescending);

} // namespace octavo::interpreter
