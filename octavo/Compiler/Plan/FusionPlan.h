// What the operations of a block become: kernels and steps of their own, in an order in which they
// can run, and which values they leave in memory.
#pragma once

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Plan/Convolutions.h"
#include "octavo/Compiler/Plan/ScaledProducts.h"

#include "mlir/IR/Block.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace octavo::compiler {

/// A kernel, or one operation that is a step of its own.
struct Node {
  Kernel kernel;
  KernelCode code;
  mlir::Operation* op = nullptr; ///< null for kernels
  /// Of a dot that the kernels multiply.
  std::optional<MatrixProduct> matrices = std::nullopt;
  std::optional<ScaledProduct> scaled = std::nullopt;
  /// Of a convolution.
  std::optional<PatchProduct> patches = std::nullopt;
  /// Of a quantization: whether its products pack it, or nobody uses it.
  bool isPacked = false;
  /// Of a product of a scaled tensor that is quantized: whether others take that as it is, so that
  /// it is whole among the values.
  bool takesWhole = false;
  /// Of a product in a batch: a kernel that makes rows of the right side (Chains.h).
  std::shared_ptr<const Node> prologue = nullptr;
  /// Of a product: a kernel that reads rows of the result as soon as they are whole (Chains.h).
  std::shared_ptr<const Node> epilogue = nullptr;

  bool isKernel() const { return op == nullptr; }
  /// Of a dot that the kernels multiply; 1 without a batch, of all else 0.
  std::int64_t productsOfBatch() const {
    return matrices ? static_cast<std::int64_t>(matrices->left.batch.size())
           : scaled ? scaled->batch.count
                    : 0;
  }
};

/// What an operation reads in memory: matrices of products, else operands and what regions use from
/// around them.
llvm::SmallVector<mlir::Value> readsOf(const Node& node);

/// The nodes of a block without its terminator, whose operands are left in memory. An error says
/// that there is no order: nothing is to be left out silently.
llvm::Expected<std::vector<Node>> nodesOf(mlir::Block& block);

/// The value whose memory holds `value`: reshapes leave elements where they are.
mlir::Value inMemory(mlir::Value value);

} // namespace octavo::compiler
