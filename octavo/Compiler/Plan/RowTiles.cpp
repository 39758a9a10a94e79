#include "octavo/Compiler/Plan/RowTiles.h"

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::compiler {

llvm::SmallVector<mlir::Value> memoryReadBy(const Node& node) {
  llvm::SmallVector<mlir::Value> read;
  if (!node.isKernel()) {
    if (node.scaled) {
      for (const auto& side : {node.scaled->leftReads(), node.scaled->rightReads()})
        for (mlir::Value value : side)
          read.push_back(inMemory(value));
      return read;
    }
    for (mlir::Value value : readsOf(node))
      read.push_back(inMemory(value));
    if (node.prologue)
      read.append(memoryReadBy(*node.prologue));
    return read;
  }
  for (const Element& element : node.code.reads)
    if (!node.kernel.stored.contains(element.tensor))
      read.push_back(inMemory(element.tensor));
  return read;
}

bool isReadBeside(const Node& writer, const Chain& chain, mlir::Value memory) {
  const auto reads = [&](const Node& node) {
    return llvm::is_contained(memoryReadBy(node), memory);
  };
  return llvm::any_of(chain.links, [&](const Node& node) {
    const bool isWriter = &node == &writer;
    return (reads(node) && !(isWriter && node.isKernel())) ||
           (node.epilogue && !isWriter && reads(*node.epilogue));
  });
}

namespace {

using Values = llvm::DenseSet<mlir::Value>;

/// The search for links stops after this many nodes in a row that do not join, so that it is
/// linear.
constexpr int kWindow = 64;

llvm::SmallVector<mlir::Value> madeBy(const Node& node) {
  llvm::SmallVector<mlir::Value> made;
  if (node.isKernel())
    made.append(node.kernel.stored.begin(), node.kernel.stored.end());
  else
    made.append(node.op->result_begin(), node.op->result_end());
  return made;
}

/// The number of rows, or products of a batch, that can be cut into ranges; 0: the node is no
/// product, or needs all rows at once.
std::int64_t rowsOf(const Node& node) {
  if (node.takesWhole)
    return 0;
  if (node.patches)
    return node.patches->shape.rows()->of(1);
  if (const std::int64_t products = node.productsOfBatch(); products != 1)
    return products;
  if (node.matrices)
    return node.matrices->rows;
  // A range of rows does not determine the scale of blocks that span rows; parts have their scales.
  const std::int64_t across = node.scaled->plan.left.across;
  const bool isInBands = across != 1 && across != format::kWholeAxis && across < node.scaled->rows;
  if (node.scaled->leftParts && isInBands)
    return 0;
  if (ir::QuantizeOp quantize = node.scaled->quantize) {
    const auto type = mlir::cast<ir::ScaledType>(quantize.getResult().getType());
    const numerics::QuantizeOptions options = optionsOf(quantize);
    const bool isByRow = across == 1;
    const bool isKnown = (type.getHasOuterScale() || options.amax) &&
                         !numerics::needsWholeTensor(options, type.getHasOuterScale());
    if (!isKnown && (!isByRow || type.getHasOuterScale()))
      return 0;
  }
  return node.scaled->rows;
}

bool isLocal(const Element& read, std::int64_t kernelRows, std::int64_t rows) {
  const std::int64_t size = sizeOf(read.tensor);
  if (size % rows != 0)
    return false;
  const auto row = read.linear.dividedBy(size / rows);
  return row &&
         row->quotient == Index::variable(kRow, kernelRows).dividedBy(kernelRows / rows)->quotient;
}

bool isLocal(const MatrixLayout& side, std::int64_t matrixRows, std::int64_t depth,
             std::int64_t rows) {
  const std::int64_t size = sizeOf(side.memory);
  if (size % rows != 0)
    return false;
  const std::int64_t unit = size / rows;
  const std::int64_t acrossDepth = (depth - 1) * side.depthStride;
  if (side.batch.size() == 1)
    return side.stride == unit && side.offset + side.batch.front() + acrossDepth < unit;
  return llvm::all_of(llvm::enumerate(side.batch), [&](auto each) {
    const std::int64_t first = side.offset + each.value();
    const std::int64_t begin = static_cast<std::int64_t>(each.index()) * unit;
    return begin <= first && first + (matrixRows - 1) * side.stride + acrossDepth < begin + unit;
  });
}

class ChainBuilder {
public:
  ChainBuilder(mlir::Block& block, std::vector<Node> nodesOfBlock)
      : block(block), nodes(std::move(nodesOfBlock)), isTaken(nodes.size()) {}

  std::vector<Chain> build();

private:
  mlir::Block& block;
  std::vector<Node> nodes;
  std::vector<bool> isTaken;
  std::vector<Chain> chains;

  void takeAlone(std::size_t node) {
    isTaken[node] = true;
    chains.emplace_back().links.push_back(std::move(nodes[node]));
  }
  void begin(std::size_t first);
  void dropPacked();
  void findPrologues();
  void findWithin();
  void findEpilogues();
  static bool fits(const Node& node, const Chain& chain, const Values& made);
};

/// Whether a node can be cut into the chain's rows, and reads only its own row of values in `made`.
bool ChainBuilder::fits(const Node& node, const Chain& chain, const Values& made) {
  const std::int64_t rows = chain.rows;
  if (node.isKernel())
    return node.kernel.rows % rows == 0 && llvm::all_of(node.code.reads, [&](const Element& read) {
             return !made.contains(inMemory(read.tensor)) ||
                    isLocal({inMemory(read.tensor), read.linear}, node.kernel.rows, rows);
           });
  if (rowsOf(node) != rows)
    return false;
  if (node.scaled) {
    // A range of a batch has fewer rows of a single product than keep the order of its sums.
    if (chain.isBatch != (node.scaled->batch.count != 1))
      return false;
    // A scale of more than one row must be complete before the first row is multiplied.
    const auto isMade = [&](mlir::Value value) { return made.contains(inMemory(value)); };
    const bool isByRow = node.scaled->batch.count == 1 ? node.scaled->plan.left.across == 1
                                                       : !node.scaled->batch.sharesLeftScales;
    const llvm::SmallVector<mlir::Value> left = node.scaled->leftReads();
    return llvm::none_of(node.scaled->rightReads(), isMade) &&
           llvm::none_of(
               llvm::ArrayRef(left).drop_front(isByRow ? std::min<std::size_t>(left.size(), 2) : 1),
               isMade);
  }
  if (node.patches) // a patch is of several rows of the input
    return llvm::none_of(readsOf(node),
                         [&](mlir::Value value) { return made.contains(inMemory(value)); });
  const MatrixProduct& product = *node.matrices;
  const auto isOutside = [&](const MatrixLayout& side) {
    return !made.contains(inMemory(side.memory)) &&
           llvm::none_of(side.choices, [&](const Choice& choice) {
             return made.contains(inMemory(choice.index));
           });
  };
  const bool leftFits =
      isOutside(product.left) || isLocal(product.left, product.rows, product.depth, rows);
  const bool rightFits =
      isOutside(product.right) || (product.right.batch.size() > 1 &&
                                   isLocal(product.right, product.columns, product.depth, rows));
  const bool areGroupsKnown = !product.groups || !made.contains(inMemory(product.groups->sizes));
  return leftFits && rightFits && areGroupsKnown;
}

void ChainBuilder::begin(std::size_t first) {
  const std::int64_t rows = rowsOf(nodes[first]);
  Chain chain{.links = {}, .rows = rows, .isBatch = nodes[first].productsOfBatch() > 1};
  Values made, later;
  llvm::DenseSet<mlir::Operation*> quantized;
  llvm::SmallVector<std::size_t> before;
  const auto join = [&](std::size_t i) {
    Node& node = nodes[i];
    if (node.scaled && node.scaled->quantize && quantized.insert(node.scaled->quantize).second) {
      Node& packing = chain.links.emplace_back();
      packing.op = node.scaled->quantize;
      packing.isPacked = true;
    }
    for (mlir::Value value : madeBy(node))
      made.insert(value);
    isTaken[i] = true;
    chain.links.push_back(std::move(node));
  };
  join(first);
  int missed = 0;
  for (std::size_t i = first + 1; i < nodes.size() && missed < kWindow; ++i) {
    const Node& node = nodes[i];
    if (isTaken[i])
      continue;
    if (!node.isKernel() && !mlir::isMemoryEffectFree(node.op))
      break;
    const auto read = memoryReadBy(node);
    const auto isIn = [&](const Values& set) {
      return llvm::any_of(read, [&](mlir::Value value) { return set.contains(value); });
    };
    const bool waits = isIn(later);
    if (node.isPacked) { // a link before its product; the node runs before the chain
      if (!waits && !isIn(made))
        before.push_back(i);
      continue;
    }
    if (!waits && fits(node, chain, made) && (isIn(made) || rowsOf(node) != 0)) {
      join(i);
      missed = 0;
    } else if (!waits && !isIn(made)) {
      before.push_back(i);
      ++missed;
    } else {
      for (mlir::Value value : madeBy(node))
        later.insert(value);
      ++missed;
    }
  }
  if (chain.links.size() > 1)
    for (const std::size_t i : before)
      takeAlone(i);
  chains.push_back(std::move(chain));
}

/// Removes quantizations that are links in all chains that use them.
void ChainBuilder::dropPacked() {
  llvm::DenseSet<mlir::Operation*> inChains;
  for (const Chain& chain : chains)
    for (const Node& link : chain.links)
      if (chain.links.size() > 1 && link.scaled && link.scaled->quantize)
        inChains.insert(link.op);
  std::erase_if(chains, [&](const Chain& chain) {
    const Node& node = chain.links.front();
    return node.isPacked && chain.links.size() == 1 &&
           llvm::all_of(node.op->getUsers(),
                        [&](mlir::Operation* user) { return inChains.contains(user); });
  });
}

/// Whether a kernel writes more bytes than it reads.
bool expands(const Node& node) {
  std::int64_t read = 0, made = 0;
  for (mlir::Value argument : node.code.arguments)
    (llvm::is_contained(node.kernel.stored, argument) ? made : read) +=
        sizeOf(argument) * containerBytes(elementOf(argument));
  return read < made;
}

/// The number of rows in memory of the right sides of a batch, if together they cover the memory
/// exactly and each row is of one product, along its columns or its depth; else 0.
std::int64_t rowsOfRightSides(const MatrixProduct& product) {
  const MatrixLayout& right = product.right;
  const bool isOfColumns = right.depthStride == 1;
  const std::int64_t elements = isOfColumns ? product.depth : product.columns;
  const std::int64_t rows = isOfColumns ? product.columns : product.depth;
  const std::int64_t stride = isOfColumns ? right.stride : right.depthStride;
  const std::int64_t all = static_cast<std::int64_t>(right.batch.size()) * rows;
  if ((!isOfColumns && right.stride != 1) || stride <= 0 || stride % elements != 0 ||
      right.offset % elements != 0 || sizeOf(right.memory) != all * elements)
    return 0;
  llvm::BitVector found(static_cast<unsigned>(all));
  for (const std::int64_t first : right.batch)
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t at = right.offset + first + i * stride;
      const auto row = static_cast<unsigned>(at / elements);
      if (at % elements != 0 || found.test(row))
        return 0;
      found.set(row);
    }
  return all;
}

void ChainBuilder::findPrologues() {
  llvm::DenseMap<mlir::Value, Chain*> makers;
  llvm::DenseMap<mlir::Value, int> readers;
  for (Chain& chain : chains) {
    const Node& node = chain.links.front();
    if (chain.links.size() == 1 && node.isKernel() && node.kernel.stored.size() == 1 &&
        expands(node))
      makers[node.kernel.stored.front()] = &chain;
    for (const Node& link : chain.links)
      for (mlir::Value value : memoryReadBy(link))
        ++readers[value];
  }
  for (mlir::Value value : block.getTerminator()->getOperands())
    ++readers[inMemory(value)];
  for (Chain& chain : chains)
    for (Node& product : chain.links) {
      if (product.productsOfBatch() <= 1 || !product.matrices || !product.matrices->type ||
          product.matrices->type == kernels::PlainType::Int8)
        continue;
      const mlir::Value memory = inMemory(product.matrices->right.memory);
      const auto maker = makers.find(memory);
      if (maker == makers.end() || readers.lookup(memory) != 1)
        continue;
      Node& kernel = maker->second->links.front();
      const std::int64_t rows = rowsOfRightSides(*product.matrices);
      if (rows == 0 || kernel.kernel.rows % rows != 0)
        continue;
      product.prologue = std::make_shared<const Node>(std::move(kernel));
      maker->second->links.clear();
    }
  std::erase_if(chains, [](const Chain& chain) { return chain.links.empty(); });
}

void ChainBuilder::findWithin() {
  llvm::DenseMap<mlir::Value, Chain*> makers;
  for (Chain& chain : chains)
    if (chain.links.size() > 1)
      for (const Node& link : chain.links)
        for (mlir::Value value : madeBy(link))
          if (mlir::isa<mlir::RankedTensorType>(value.getType())) {
            makers[value] = &chain;
            chain.within.insert(value);
          }
  const auto readBeyond = [&](mlir::Value value, const Chain* reader) {
    const auto maker = makers.find(inMemory(value));
    if (maker != makers.end() && maker->second != reader)
      maker->second->within.remove(inMemory(value));
  };
  for (const Chain& chain : chains)
    for (const Node& link : chain.links)
      for (mlir::Value value : memoryReadBy(link))
        readBeyond(value, &chain);
  for (mlir::Value value : block.getTerminator()->getOperands())
    readBeyond(value, nullptr);
}

/// The number of rows of a product's result, if it can be computed row by row; else 0.
std::int64_t resultRowsOf(const Node& node) {
  if (node.productsOfBatch() <= 1)
    return rowsOf(node);
  return rowsOf(node) * (node.matrices ? node.matrices->rows : node.scaled->rows);
}

bool isProduct(const Node& node) {
  return !node.takesWhole && (node.matrices || node.patches || node.scaled);
}

/// Whether a kernel can run on ranges of the product's result rows: it reads only those of the
/// result.
bool finishes(const Node& kernel, const Node& product, std::int64_t rows) {
  return kernel.isKernel() && kernel.kernel.rows % rows == 0 &&
         llvm::all_of(kernel.code.reads, [&](const Element& read) {
           return inMemory(read.tensor) != product.op->getResult(0) ||
                  isLocal({inMemory(read.tensor), read.linear}, kernel.kernel.rows, rows);
         });
}

/// Makes kernels epilogues of the last product that they read. That product is a link of the same
/// chain, or neither it nor the kernel is in a chain that is cut.
void ChainBuilder::findEpilogues() {
  llvm::DenseMap<mlir::Value, std::pair<std::size_t, std::size_t>> makers; // by value: chain, link
  for (std::size_t c = 0; c < chains.size(); ++c) {
    std::vector<Node>& links = chains[c].links;
    const auto productOf = [&](const Node& node) -> Node* {
      std::optional<std::pair<std::size_t, std::size_t>> last;
      if (node.isKernel())
        for (mlir::Value value : memoryReadBy(node))
          if (const auto found = makers.find(value); found != makers.end())
            last = std::max(last.value_or(found->second), found->second);
      if (!last)
        return nullptr;
      Chain& chain = chains[last->first];
      Node& product = chain.links[last->second];
      const bool areAlone = chain.rows == 0 && chains[c].rows == 0;
      const std::int64_t rows = last->first == c ? resultRowsOf(product) : areAlone ? 1 : 0;
      const bool fits =
          rows != 0 && isProduct(product) && !product.epilogue && finishes(node, product, rows);
      return fits ? &product : nullptr;
    };
    std::size_t left = 0;
    for (Node& link : links) {
      if (Node* product = productOf(link)) {
        product->epilogue = std::make_shared<const Node>(std::move(link));
        for (mlir::Value value : madeBy(*product->epilogue))
          makers[value] = makers.lookup(product->op->getResult(0));
        continue;
      }
      for (mlir::Value value : madeBy(link))
        makers[value] = {c, left};
      if (&links[left] != &link)
        links[left] = std::move(link);
      ++left;
    }
    links.erase(links.begin() + static_cast<std::ptrdiff_t>(left), links.end());
  }
  std::erase_if(chains, [](const Chain& chain) { return chain.links.empty(); });
}

std::vector<Chain> ChainBuilder::build() {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (isTaken[i])
      continue;
    if (rowsOf(nodes[i]) > 1)
      begin(i);
    else
      takeAlone(i);
  }
  dropPacked();
  findPrologues();
  findWithin();
  findEpilogues();
  return std::move(chains);
}

} // namespace

llvm::Expected<std::vector<Chain>> chainsOf(mlir::Block& block) {
  llvm::Expected<std::vector<Node>> nodes = nodesOf(block);
  if (!nodes)
    return nodes.takeError();
  return ChainBuilder(block, std::move(*nodes)).build();
}

} // namespace octavo::compiler
