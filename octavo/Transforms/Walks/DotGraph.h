// How the dots of a program hang together.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstddef>
#include <vector>

namespace octavo::transforms {

struct DotGraph {
  /// The numbers of the dots that the function comes by, its calls inlined, in its order.
  std::vector<std::size_t> order;
  /// Of each number, those that its operands come from: with no dot between them, and not also by
  /// way of another dot. A loop's next turn and a dot's next call do not count. Each comes earlier
  /// in the order.
  std::vector<std::vector<std::size_t>> sources;
};

/// Of a function of a module whose dots are numbered. The module stays as it is.
DotGraph dotGraph(mlir::func::FuncOp function);

} // namespace octavo::transforms
