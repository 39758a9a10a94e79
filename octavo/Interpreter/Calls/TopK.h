// Finds the largest or smallest elements along the last axis.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

/// Which elements come first.
enum class Extreme : std::uint8_t { Largest, Smallest };

/// For each line along the last axis, the k largest or smallest elements in the total order (rule
/// I9), sorted, and their indices as i32.
llvm::Expected<Results> topK(mlir::Operation* op, const Tensor& x, std::int64_t k, Extreme extreme);

} // namespace octavo::interpreter
