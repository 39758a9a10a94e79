#include "octavo/Compiler/Plan/FusionPlan.h"

#include "octavo/Compiler/Kernels/Arithmetic.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Compiler/Plan/NeedlessMoves.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

namespace octavo::compiler {

namespace {

constexpr int kUnknown = kColumn + 1;

/// The search whether one draft uses another visits at most this many uses. Beyond that it answers
/// yes, so that the drafts stay apart; the work stays linear in the program.
constexpr int kMostUses = 1 << 14;

/// More members would spill registers, and LLVM takes more than linear time for them.
constexpr std::size_t kMostMembers = 256;
/// The limit on the code of members, as codeOf counts it: 32 functions such as tanh, which are
/// inlined. From twice as much on, LLVM takes more than twice the time.
constexpr int kMostCode = 512;

/// The amount of code of a member, in float additions.
int codeOf(mlir::Operation* op) {
  constexpr int kFunction = 16; ///< at most: a function that costs more is called
  constexpr int kConversions = 8;
  const auto isConverted = [](mlir::Type type) {
    const mlir::Type element = mlir::getElementTypeOrSelf(type);
    return narrowFormat(element) != nullptr || mlir::isa<mlir::ComplexType>(element);
  };
  return std::min(costOf(op), kFunction) + (llvm::any_of(op->getOperandTypes(), isConverted) ||
                                                    llvm::any_of(op->getResultTypes(), isConverted)
                                                ? kConversions
                                                : 0);
}

bool isConstant(mlir::Operation* op) { return mlir::matchPattern(op, mlir::m_Constant()); }

/// The element that element `linear` of a value is read from, through views. nullopt: it is
/// inlined.
std::optional<Element> readFrom(mlir::Value value, const Index& linear = Index()) {
  Unknowns unknowns(kUnknown);
  Element source = sourceOf({value, linear}, unknowns);
  return isInlined(source.tensor.getDefiningOp()) ? std::nullopt : std::optional(std::move(source));
}

class Builder {
public:
  explicit Builder(mlir::Block& block) : block(block) {}

  llvm::Expected<std::vector<Node>> build();

private:
  struct Draft {
    Node node;
    bool isSplit = false;                ///< a reduction fixes rows and columns
    llvm::SetVector<int> reads = {};     ///< drafts whose results this draft uses
    llvm::SmallVector<int> readers = {}; ///< drafts that use its results
    int level = 0;                       ///< greater than that of every draft whose results it uses
    int code = 0;                        ///< sum of codeOf over its members
    llvm::SmallVector<mlir::Value> memory = {}; ///< values an operation needs in memory
    /// The draft into which this draft was merged; -1: none.
    int mergedInto = -1;
  };

  mlir::Block& block;
  std::vector<Draft> drafts;
  llvm::DenseMap<mlir::Operation*, int> draftOf;
  llvm::DenseMap<mlir::Operation*, int> layoutOf; ///< by view: the draft that copies it to memory
  std::vector<int> lookedAt;                      ///< by draft: the last search that visited it
  int searches = 0;

  int resolve(int draft) const {
    while (drafts[static_cast<std::size_t>(draft)].mergedInto >= 0)
      draft = drafts[static_cast<std::size_t>(draft)].mergedInto;
    return draft;
  }
  Draft& at(int draft) { return drafts[static_cast<std::size_t>(draft)]; }
  int draftOfValue(mlir::Value value) const {
    mlir::Operation* op = value.getDefiningOp();
    const auto found = op == nullptr ? draftOf.end() : draftOf.find(op);
    return found == draftOf.end() ? -1 : resolve(found->second);
  }

  void place(mlir::Operation* op);
  bool joins(mlir::Operation* op, int draft);
  bool fits(mlir::Operation* op, int draft, std::int64_t rows, std::int64_t columns);
  bool reaches(int from, int to);
  void raise(int draft, int level);
  void link(int reader, int source);
  bool merge(int into, int other);
  void shape(Draft& draft);
  llvm::DenseSet<mlir::Operation*> asked();
  void require(mlir::Value value, int reader);
  void connect();
};

/// Whether `from` uses results of `to`, perhaps through other drafts. Only drafts of a higher level
/// can.
bool Builder::reaches(int from, int to) {
  const int level = at(to).level;
  if (at(from).level <= level)
    return false;
  ++searches;
  lookedAt.resize(drafts.size(), 0);
  llvm::SmallVector<int> open{from};
  for (int uses = 0; !open.empty();) {
    for (const int read : at(open.pop_back_val()).reads) {
      const int source = resolve(read);
      if (source == to || ++uses == kMostUses)
        return true;
      if (at(source).level > level &&
          std::exchange(lookedAt[static_cast<std::size_t>(source)], searches) != searches)
        open.push_back(source);
    }
  }
  return false;
}

/// Raises a draft to at least `level`, and its users above it.
void Builder::raise(int draft, int level) {
  llvm::SmallVector<std::pair<int, int>> open{{draft, level}};
  while (!open.empty()) {
    const auto [next, least] = open.pop_back_val();
    // A cycle, which build() reports, would raise levels forever.
    if (at(next).level >= least || least > static_cast<int>(drafts.size()))
      continue;
    at(next).level = least;
    for (const int reader : at(next).readers)
      if (const int user = resolve(reader); user != next)
        open.emplace_back(user, least + 1);
  }
}

/// Records that the draft `reader` uses results of the draft `source`.
void Builder::link(int reader, int source) {
  if (!at(reader).reads.insert(source))
    return;
  at(source).readers.push_back(reader);
  raise(reader, at(source).level + 1);
}

/// Whether the operation reads each value of the draft's members at the index where they compute
/// it, in a kernel of `rows` by `columns`.
bool Builder::fits(mlir::Operation* op, int draft, std::int64_t rows, std::int64_t columns) {
  const Index row = Index::variable(kRow, rows);
  const Index place = row * columns + Index::variable(kColumn, columns);
  const auto isAtItsPlace = [&](mlir::Value operand, const Index& linear) {
    const std::optional<Element> source = readFrom(operand, linear);
    if (!source || draftOfValue(source->tensor) != draft)
      return true;
    const bool isOfRow =
        columns != 1 && (llvm::isa<stablehlo::ReduceOp>(source->tensor.getDefiningOp()) ||
                         sizeOf(source->tensor) == rows);
    return source->linear == (isOfRow ? row : place) &&
           sizeOf(source->tensor) == (isOfRow ? rows : rows * columns);
  };
  const auto isFromElsewhere = [&](mlir::Value operand) {
    const std::optional<Element> source = readFrom(operand);
    return !source || draftOfValue(source->tensor) != draft;
  };
  if (auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op))
    return isAtItsPlace(reduce.getInputs()[0], place) && isFromElsewhere(reduce.getInitValues()[0]);
  const bool isOfRow = columns != 1 && sizeOf(op->getResult(0)) == rows;
  return llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
    // An operand that all elements share must come from another draft.
    const bool isWhole = shapeOf(operand) == shapeOf(op->getResult(0));
    return isWhole ? isAtItsPlace(operand, isOfRow ? row : place) : isFromElsewhere(operand);
  });
}

/// Makes the operation a member of a draft, if it fits. Returns whether it did.
bool Builder::joins(mlir::Operation* op, int draft) {
  Draft& d = at(draft);
  if (!d.node.isKernel() || d.node.kernel.members.size() == kMostMembers ||
      d.code + codeOf(op) > kMostCode)
    return false;
  std::int64_t rows = d.node.kernel.rows, columns = d.node.kernel.columns;
  bool splits = d.isSplit;
  if (auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op)) {
    if (!reducesRows(op))
      return false;
    const std::int64_t kept = sizeOf(op->getResult(0));
    const std::int64_t reduced = sizeOf(reduce.getInputs()[0]) / std::max<std::int64_t>(kept, 1);
    if (d.isSplit ? kept != rows || reduced != columns : kept * reduced != rows)
      return false;
    rows = kept;
    columns = reduced;
    splits = true;
  } else if (!isCompiledElementwise(op)) {
    return false;
  } else {
    const std::int64_t size = sizeOf(op->getResult(0));
    if (size != rows * columns && !(d.isSplit && size == rows))
      return false;
  }
  if (!fits(op, draft, rows, columns))
    return false;
  // Other operands of the operation must not depend on the draft.
  for (mlir::Value operand : op->getOperands()) {
    const std::optional<Element> source = readFrom(operand);
    const int other = source ? draftOfValue(source->tensor) : -1;
    if (other >= 0 && other != draft && reaches(other, draft))
      return false;
  }
  d.node.kernel.rows = rows;
  d.node.kernel.columns = columns;
  d.isSplit = splits;
  d.node.kernel.members.insert(op);
  d.code += codeOf(op);
  draftOf[op] = draft;
  return true;
}

/// Merges two drafts over the same rows, if neither uses the other. Returns whether it did.
bool Builder::merge(int into, int other) {
  Draft &a = at(into), &c = at(other);
  if (!a.node.isKernel() || !c.node.isKernel() ||
      a.node.kernel.members.size() + c.node.kernel.members.size() > kMostMembers ||
      a.code + c.code > kMostCode)
    return false;
  const std::int64_t size = a.node.kernel.rows * a.node.kernel.columns;
  if (size != c.node.kernel.rows * c.node.kernel.columns)
    return false;
  if (a.isSplit && c.isSplit && a.node.kernel.rows != c.node.kernel.rows)
    return false;
  // Drafts that use each other stay apart: they were not joined, as a use is not at the writer's
  // index.
  if (reaches(into, other) || reaches(other, into))
    return false;
  if (!a.isSplit && c.isSplit) {
    a.node.kernel.rows = c.node.kernel.rows;
    a.node.kernel.columns = c.node.kernel.columns;
  }
  a.isSplit |= c.isSplit;
  a.node.kernel.members.insert(c.node.kernel.members.begin(), c.node.kernel.members.end());
  a.code += c.code;
  a.reads.insert(c.reads.begin(), c.reads.end());
  c.mergedInto = into;
  if (a.readers.size() < c.readers.size())
    std::swap(a.readers, c.readers);
  a.readers.append(c.readers);
  c.readers.clear();
  // Users of either draft must be above both.
  const int level = std::max(a.level, c.level);
  a.level = level - 1;
  raise(into, level);
  return true;
}

void Builder::place(mlir::Operation* op) {
  llvm::SetVector<int> sources;
  Node node;
  if (auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op); dot && sizeOf(dot.getResult()) != 0)
    node.matrices = matrixProduct(dot);
  if (auto dot = llvm::dyn_cast<chlo::RaggedDotOp>(op); dot && sizeOf(dot.getResult()) != 0)
    node.matrices = matrixProduct(dot);
  const bool isMember = !node.matrices && isKernelMember(op);
  if (!isMember) {
    node.op = op;
    if (auto convolution = llvm::dyn_cast<stablehlo::ConvolutionOp>(op))
      node.patches = patchProduct(convolution);
    if (auto scaledDot = llvm::dyn_cast<ir::DotGeneralOp>(op))
      node.scaled = scaledProduct(scaledDot);
    if (auto rows = llvm::dyn_cast<ir::RowsOfGroupsOp>(op))
      if (auto scaledDot = rows.getAll().getDefiningOp<ir::DotGeneralOp>();
          scaledDot && takenWith(scaledDot))
        node.scaled = scaledProduct(scaledDot);
    if (node.scaled && node.scaled->quantize)
      node.takesWhole = !isPackedForProducts(node.scaled->quantize);
    if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op))
      node.isPacked = isPackedForProducts(quantize);
  }
  llvm::SmallVector<mlir::Value> read =
      isMember ? llvm::SmallVector<mlir::Value>(op->getOperands()) : readsOf(node);
  for (mlir::Value value : read)
    if (const std::optional<Element> source = readFrom(value))
      if (const int draft = draftOfValue(source->tensor); draft >= 0)
        sources.insert(draft);

  int home = -1;
  if (isMember) {
    llvm::SmallVector<int> candidates(sources.begin(), sources.end());
    llvm::sort(candidates, std::greater<>());
    for (const int candidate : candidates)
      if (joins(op, candidate)) {
        home = candidate;
        break;
      }
    // Merging would create a cycle if another operand of the operation depends on the candidate.
    const auto waitsFor = [&](int candidate) {
      return llvm::any_of(sources, [&](int source) {
        const int other = resolve(source);
        return other != home && other != candidate && reaches(other, candidate);
      });
    };
    if (home >= 0 && isCompiledElementwise(op))
      for (const int candidate : candidates)
        if (resolve(candidate) != home && !waitsFor(candidate) &&
            fits(op, candidate, at(home).node.kernel.rows, at(home).node.kernel.columns))
          merge(home, candidate);
  }
  if (home < 0) {
    home = static_cast<int>(drafts.size());
    drafts.emplace_back();
    draftOf[op] = home;
    Draft& draft = drafts.back();
    if (!isMember) {
      draft.node = std::move(node);
      draft.memory = std::move(read);
    } else {
      draft.node.kernel.members.insert(op);
      draft.code = codeOf(op);
      draft.node.kernel.rows = sizeOf(op->getResult(0));
      if (auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op)) {
        draft.node.kernel.columns =
            sizeOf(reduce.getInputs()[0]) / std::max<std::int64_t>(draft.node.kernel.rows, 1);
        draft.isSplit = true;
      }
    }
  }
  for (const int source : sources)
    if (const int other = resolve(source); other != home)
      link(home, other);
}

/// Chooses rows and columns of a draft that no reduction fixed. If each member reads and writes in
/// the order of its elements, rows are elements. Else the last axis becomes the columns, so that
/// the inner loop divides no index.
void Builder::shape(Draft& draft) {
  if (draft.isSplit || draft.node.kernel.rows == 0)
    return;
  Kernel& kernel = draft.node.kernel;
  const std::int64_t size = kernel.rows;
  bool isPlain = true;
  llvm::ArrayRef<std::int64_t> extents;
  const auto look = [&](mlir::Value result, mlir::ValueRange operands, bool isWhole) {
    if (shapeOf(result).size() >= extents.size())
      extents = shapeOf(result);
    isPlain &= isWhole;
    const Index place = Index::variable(kRow, size);
    for (mlir::Value operand : operands) {
      if (shapeOf(operand).empty())
        continue;
      Unknowns unknowns(kUnknown);
      const Element source = sourceOf({operand, place}, unknowns);
      isPlain &= source.linear == place || source.linear.digits().empty();
      isPlain &= !llvm::isa_and_present<stablehlo::IotaOp>(source.tensor.getDefiningOp());
    }
  };
  for (mlir::Operation* member : kernel.members)
    look(member->getResult(0), member->getOperands(), isCompiledElementwise(member));
  for (mlir::Value value : kernel.stored)
    if (!kernel.members.contains(value.getDefiningOp()))
      look(value, value.getDefiningOp()->getOperands(), false);
  if (isPlain)
    return;
  for (std::size_t axis = extents.size(); axis-- > 0;)
    if (extents[axis] > 1) {
      kernel.columns = extents[axis];
      kernel.rows = size / extents[axis];
      return;
    }
}

/// The members of kernels whose results are read. A product that packs slices from their original
/// tensor does not read the kernels that would make the slices.
llvm::DenseSet<mlir::Operation*> Builder::asked() {
  llvm::DenseSet<mlir::Operation*> found;
  llvm::SmallVector<mlir::Value> open(block.getTerminator()->getOperands());
  for (const Draft& draft : drafts)
    if (draft.mergedInto < 0)
      open.append(draft.memory.begin(), draft.memory.end());
  while (!open.empty()) {
    Unknowns unknowns(kUnknown);
    const mlir::Value value = sourceOf({open.pop_back_val(), Index()}, unknowns).tensor;
    const int draft = draftOfValue(value);
    if (draft < 0 || !at(draft).node.isKernel() || !found.insert(value.getDefiningOp()).second)
      continue;
    for (mlir::Value operand : value.getDefiningOp()->getOperands())
      open.push_back(operand);
  }
  return found;
}

/// Makes `value` lie in memory for the draft `reader` (-1: a result of the block).
void Builder::require(mlir::Value value, int reader) {
  value = inMemory(value);
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || op->getBlock() != &block || isConstant(op))
    return;
  if (isInlined(op)) {
    auto found = layoutOf.find(op);
    if (found == layoutOf.end()) {
      const int layout = static_cast<int>(drafts.size());
      found = layoutOf.try_emplace(op, layout).first;
      drafts.emplace_back();
      drafts.back().node.kernel.rows = sizeOf(value);
      drafts.back().node.kernel.stored.insert(value);
      if (const std::optional<Element> source = readFrom(value))
        require(source->tensor, layout);
    }
    if (reader >= 0)
      at(reader).reads.insert(layoutOf.lookup(op));
    return;
  }
  const int draft = draftOfValue(value);
  if (draft == reader)
    return;
  if (at(draft).node.isKernel())
    at(draft).node.kernel.stored.insert(value);
  if (reader >= 0)
    at(reader).reads.insert(draft);
}

void Builder::connect() {
  const llvm::DenseSet<mlir::Operation*> isAsked = asked();
  const std::size_t count = drafts.size();
  for (std::size_t i = 0; i < count; ++i) {
    const int reader = static_cast<int>(i);
    if (at(reader).mergedInto >= 0)
      continue;
    const llvm::SmallVector<mlir::Operation*> members(at(reader).node.kernel.members.begin(),
                                                      at(reader).node.kernel.members.end());
    for (mlir::Operation* member : llvm::make_filter_range(
             members, [&](mlir::Operation* each) { return isAsked.contains(each); }))
      for (mlir::Value operand : member->getOperands())
        if (const std::optional<Element> source = readFrom(operand))
          require(source->tensor, reader);
    // A copy, because laying out a view adds a draft.
    for (mlir::Value value : llvm::SmallVector<mlir::Value>(at(reader).memory))
      require(value, reader);
  }
  for (mlir::Value value : block.getTerminator()->getOperands())
    require(value, -1);
}

llvm::Expected<std::vector<Node>> Builder::build() {
  const KnownPackings packings;
  NeedlessMoves moved;
  for (mlir::Operation& op : block.without_terminator()) {
    auto pack = llvm::dyn_cast<ir::PackOp>(op);
    auto dot = llvm::dyn_cast<ir::DotGeneralOp>(op);
    if (!isInlined(&op) && !isConstant(&op) && !(pack && isTakenInParts(pack)) &&
        !moved.contains(&op) && !(dot && takenWith(dot)))
      place(&op);
  }
  connect();

  // Operations with side effects keep their order.
  int lastEffect = -1;
  for (mlir::Operation& op : block.without_terminator()) {
    const auto found = draftOf.find(&op);
    if (found == draftOf.end() || at(found->second).node.isKernel() ||
        mlir::isMemoryEffectFree(&op))
      continue;
    if (lastEffect >= 0)
      at(found->second).reads.insert(lastEffect);
    lastEffect = found->second;
  }

  std::vector<int> waiting(drafts.size(), 0);
  std::vector<llvm::SmallVector<int>> readers(drafts.size());
  for (int i = 0; i < static_cast<int>(drafts.size()); ++i) {
    if (at(i).mergedInto >= 0)
      continue;
    llvm::DenseSet<int> sources;
    for (const int read : at(i).reads)
      if (const int source = resolve(read); source != i && sources.insert(source).second) {
        readers[static_cast<std::size_t>(source)].push_back(i);
        ++waiting[static_cast<std::size_t>(i)];
      }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < static_cast<int>(drafts.size()); ++i)
    if (at(i).mergedInto < 0 && waiting[static_cast<std::size_t>(i)] == 0)
      ready.push(i);
  std::vector<Node> nodes;
  auto left = llvm::count_if(drafts, [](const Draft& draft) { return draft.mergedInto < 0; });
  for (; !ready.empty(); --left) {
    const int next = ready.top();
    ready.pop();
    for (const int reader : readers[static_cast<std::size_t>(next)])
      if (--waiting[static_cast<std::size_t>(reader)] == 0)
        ready.push(reader);
    Draft& draft = at(next);
    if (!draft.node.isKernel()) {
      nodes.push_back(std::move(draft.node));
      continue;
    }
    if (draft.node.kernel.stored.empty())
      continue; // no result is read
    shape(draft);
    // Restores the order of the program among merged members.
    llvm::SmallVector<mlir::Operation*> members = draft.node.kernel.members.takeVector();
    llvm::sort(members,
               [](mlir::Operation* a, mlir::Operation* c) { return a->isBeforeInBlock(c); });
    draft.node.kernel.members.insert(members.begin(), members.end());
    if (draft.node.kernel.rows == 0)
      continue; // no elements
    draft.node.code = emitKernel(draft.node.kernel);
    nodes.push_back(std::move(draft.node));
  }
  if (left != 0)
    return llvm::createStringError("kernels would wait for one another");
  return nodes;
}

} // namespace

llvm::SmallVector<mlir::Value> readsOf(const Node& node) {
  if (node.matrices) {
    llvm::SmallVector<mlir::Value> reads = {node.matrices->left.memory,
                                            node.matrices->right.memory};
    for (const Choice& choice : node.matrices->right.choices)
      reads.push_back(choice.index);
    if (node.matrices->groups)
      reads.push_back(node.matrices->groups->sizes);
    return reads;
  }
  if (node.patches)
    return {node.patches->input, node.patches->weight};
  if (node.scaled) {
    llvm::SmallVector<mlir::Value> reads = node.scaled->rightReads();
    if (ir::QuantizeOp quantize = node.scaled->quantize)
      reads.push_back(quantize.getResult());
    else
      reads.append(node.scaled->leftReads());
    return reads;
  }
  if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(node.op)) {
    const QuantizationSource source = quantizationSource(quantize);
    if (source.kept) {
      llvm::SmallVector<mlir::Value> reads{source.kept->tensor};
      for (const Choice& choice : source.kept->choices)
        reads.push_back(choice.index);
      return reads;
    }
    llvm::SmallVector<mlir::Value> reads{source.values};
    if (source.randomBits)
      reads.push_back(source.randomBits);
    if (node.isPacked && !quantize->use_empty())
      if (const auto groups =
              scaledProduct(llvm::cast<ir::DotGeneralOp>(*quantize->user_begin()))->groups)
        reads.push_back(groups->sizes); // its rows are packed for each group
    return reads;
  }
  llvm::SmallVector<mlir::Value> reads(node.op->getOperands());
  if (node.op->getNumRegions() != 0) {
    llvm::SetVector<mlir::Value> captured;
    mlir::getUsedValuesDefinedAbove(node.op->getRegions(), captured);
    for (mlir::Value value : captured) {
      reads.push_back(value);
      // A kernel inside the region reads through views.
      while (isView(value.getDefiningOp()))
        reads.push_back(value = value.getDefiningOp()->getOperand(0));
    }
  }
  return reads;
}

llvm::Expected<std::vector<Node>> nodesOf(mlir::Block& block) { return Builder(block).build(); }

} // namespace octavo::compiler
