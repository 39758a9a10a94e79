// Sorts by a comparator of the program.
#pragma once

#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Tensor/Permutation.h"

namespace octavo::interpreter {

/// The sorted order of the elements of `inputs`, tensors of one shape, along `axis`. The comparator
/// takes two elements of each input (rule I20).
llvm::Expected<Permutation> sortedBy(mlir::Region& comparator, const Operands& inputs,
                                     std::int64_t axis, Evaluation& evaluation);

} // namespace octavo::interpreter
