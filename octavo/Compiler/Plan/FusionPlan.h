// Fuses the operations of a block: which kernels and single steps they become, in which order these
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

/// A kernel of fused operations, or one operation that is a step by itself.
struct Node {
  Kernel kernel;
  KernelCode code;               ///< the LLVM IR of `kernel`; empty for an operation
  mlir::Operation* op = nullptr; ///< null for kernels
  /// A dot, plain or scaled, that the kernel library multiplies.
  std::optional<MatrixProduct> matrices = std::nullopt;
  std::optional<ScaledProduct> scaled = std::nullopt;
  /// A convolution that the kernel library multiplies.
  std::optional<PatchProduct> patches = std::nullopt;
  /// A quantization that its products pack, or that nobody uses.
  bool isPacked = false;
  /// A product that quantizes its left side: whether other operations use the quantized tensor too,
  /// so that the whole tensor is kept as a value.
  bool takesWhole = false;
  /// A product of a batch: the kernel that makes rows of the right side (RowTiles.h); else null.
  std::shared_ptr<const Node> prologue = nullptr;
  /// A product: the kernel that reads rows of the result as soon as they are complete (RowTiles.h);
  /// else null.
  std::shared_ptr<const Node> epilogue = nullptr;

  bool isKernel() const { return op == nullptr; }
  /// The batch size of a product: 1 without a batch, 0 for a node that is not a dot of the kernel
  /// library.
  std::int64_t productsOfBatch() const {
    return matrices ? static_cast<std::int64_t>(matrices->left.batch.size())
           : scaled ? scaled->batch.count
                    : 0;
  }
};

/// The values that a step reads in memory: the matrices, indices and group sizes of a product; else
/// the operands, and the values that its regions capture. `node` must not be a kernel.
llvm::SmallVector<mlir::Value> readsOf(const Node& node);

/// The nodes of a block, in an order in which they can run. The terminator is not a node; its
/// operands are left in memory. Fails if there is no such order, rather than drop a node.
llvm::Expected<std::vector<Node>> nodesOf(mlir::Block& block);

} // namespace octavo::compiler
