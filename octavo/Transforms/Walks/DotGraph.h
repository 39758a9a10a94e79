// The data dependences between the dots of a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstddef>
#include <vector>

namespace octavo::transforms {

/// The dots of a function by their numbers, and the edges between them.
struct DotGraph {
  /// Numbers (numberDots) of the dots that the function executes, its calls inlined, in program
  /// order.
  std::vector<std::size_t> order;
  /// sources[number]: the dots that the operands depend on directly, neither through another dot
  /// nor also by way of another source. A loop's next iteration and a dot's next call do not count.
  /// Sources come earlier in `order`.
  std::vector<std::vector<std::size_t>> sources;
};

/// The graph of a function whose module's dots are numbered. Works on a clone; the module is
/// unchanged.
DotGraph dotGraph(mlir::func::FuncOp function);

} // namespace octavo::transforms
