// Sorting by a comparator of the program.
#pragma once

#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Tensor/Permutation.h"

namespace octavo::interpreter {

/// The order of the elements of `inputs`, tensors of one shape, along an axis by a region on two
/// elements of each (rule I20).
llvm::Expected<Permutation> sortedBy(mlir::Region& comparator, const Operands& inputs,
                                     std::int64_t axis, Evaluation& evaluation);

} // namespace octavo::interpreter
