// The largest or smallest elements of each line.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

enum class Extreme : std::uint8_t { Largest, Smallest };

/// Along the last axis the first k elements in the total order (rule I9), and their indices as i32.
llvm::Expected<Results> topK(mlir::Operation* op, const Tensor& x, std::int64_t k, Extreme extreme);

} // namespace octavo::interpreter
