// Which nodes run on one range of rows after another, so that what one gives the next one reads
// from cache.
#pragma once

#include "octavo/Compiler/Plan/FusionPlan.h"

namespace octavo::compiler {

/// Nodes that run one after the other: one by itself, or several as links.
struct Chain {
  std::vector<Node> links;
  /// What several links are cut into: rows of products, or products of batches. Of what an earlier
  /// link gives, a link reads those rows alone that it computes.
  std::int64_t rows = 0;
  bool isBatch = false; ///< the first product has one
  /// What the links alone read of what they give.
  llvm::SetVector<mlir::Value> within = {};
};

/// The memory that a node reads and does not write itself.
llvm::SmallVector<mlir::Value> memoryReadBy(const Node& node);

/// Whether a link of the chain reads memory that the kernel of `writer`, its epilogue or itself,
/// writes over: other rows than those that are written, or after they are.
bool isReadBeside(const Node& writer, const Chain& chain, mlir::Value memory);

/// The nodes of a block (Nodes.h) in chains that begin with products. A kernel that reads a
/// product's rows, and nothing that is made later, becomes its epilogue. A kernel that makes more
/// bytes than it reads, for the right side of products in a batch alone, as one that decodes what a
/// cache holds, becomes their prologue: what it makes is nowhere as a whole. A quantization that is
/// packed for products becomes a link before the first product that uses it; where all of its
/// products are in chains, it is no node besides.
llvm::Expected<std::vector<Chain>> chainsOf(mlir::Block& block);

} // namespace octavo::compiler
