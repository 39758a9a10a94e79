// Operations that move parts of weights and need no step, since products gather from the original.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace octavo::compiler {

/// Finds operations that need no step: those that unpack or slice parts, if only products read the
/// result and each product gathers from the original. The program must not change during its
/// lifetime.
class NeedlessMoves {
public:
  /// Whether `op` needs no step.
  bool contains(mlir::Operation* op);

private:
  bool isMoved(mlir::Operation* first);

  llvm::DenseMap<mlir::Operation*, bool> known;
};

} // namespace octavo::compiler
