// Groups the nodes of a block into chains that run on one range of rows after another, so that each
// node reads from cache what the one before it wrote.
#pragma once

#include "octavo/Compiler/Plan/FusionPlan.h"

namespace octavo::compiler {

/// Nodes that run one after the other: a single node, or several links.
struct Chain {
  std::vector<Node> links;
  /// The rows that are cut into ranges, or the products of a batch if `isBatch`; 0 for a node that
  /// is not cut. A link reads only those rows of an earlier link that it computes itself.
  std::int64_t rows = 0;
  bool isBatch = false; ///< `rows` counts the products of a batch
  /// The results that only links of the chain read.
  llvm::SetVector<mlir::Value> within = {};
};

/// The values that a node reads in memory and does not write itself.
llvm::SmallVector<mlir::Value> memoryReadBy(const Node& node);

/// Whether a link reads `memory` besides the kernel that writes over it. `writer` is that kernel,
/// or the product whose epilogue the kernel is. Such a link would read other rows than the kernel
/// does at the time, or read after the write.
bool isReadBeside(const Node& writer, const Chain& chain, mlir::Value memory);

/// The nodes of a block (FusionPlan.h) in chains that begin with products.
/// - A kernel that reads a product's rows, and nothing that is made later, becomes its epilogue.
/// - A kernel that only makes the right side of a batched product, and makes more bytes than it
///   reads (it decodes a KV cache, say), becomes the product's prologue: its result never exists as
///   a whole.
/// - A quantization that is packed for products becomes a link before the first product that uses
///   it. If all of its products are in chains, it runs only as such a link.
///
/// Fails as nodesOf does.
llvm::Expected<std::vector<Chain>> chainsOf(mlir::Block& block);

} // namespace octavo::compiler
