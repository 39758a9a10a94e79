// What the operations of a block become: kernels and steps of their own, in an order in which they
// can run, and which values they leave in memory.
#pragma once

#include "octavo/Conversion/Kernels/Kernel.h"

#include "mlir/IR/Block.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace octavo::conversion {

/// A kernel, or one operation that is a step of its own.
struct Node {
  Kernel kernel;
  mlir::Operation* op = nullptr; ///< null for kernels

  bool isKernel() const { return op == nullptr; }
};

/// The nodes of a block without its terminator, whose operands are left in memory. `readsMemory`
/// says what an operation that is no member of a kernel reads, if not its operands. An error says
/// that there is no order: nothing is to be left out silently.
llvm::Expected<std::vector<Node>>
nodesOf(mlir::Block& block,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Operation*)> readsMemory);

/// The value whose memory holds `value`: reshapes leave elements where they are.
mlir::Value inMemory(mlir::Value value);

} // namespace octavo::conversion
