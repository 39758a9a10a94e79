#include "octavo/Conversion/Kernels/Kernel.h"

#include "octavo/Conversion/Kernels/Arithmetic.h"
#include "octavo/Conversion/Kernels/FunctionCode.h"
#include "octavo/Conversion/Kernels/Members.h"
#include "octavo/Conversion/Kernels/Sums.h"
#include "octavo/Conversion/Kernels/Views.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/IntrinsicInst.h"

namespace octavo::conversion {

namespace {

/// What a value costs to compute again, in additions, from which on it is kept.
constexpr int kDearToRepeat = 8;
/// Rows that are gone over together where their elements in a column lie beside each other: those
/// of a line of the cache, and of some vectors.
constexpr std::int64_t kRowsOfLine = 16, kRowsOfSum = 64;

/// A reduction while its code is written.
struct Sums {
  stablehlo::ReduceOp op;
  Combination combination;
  llvm::SmallVector<llvm::Value*> first, results; ///< of each input
  llvm::SmallVector<llvm::Value*> begun, next;    ///< what a loop carries, before it and of a turn
  llvm::SmallVector<llvm::PHINode*> running;

  explicit Sums(stablehlo::ReduceOp op)
      : op(op), combination(op.getBody(), op.getInputs().getTypes(), op->getResultTypes(), false) {}
};

bool isFusedMultiplyAdd(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

/// Has a loop compute two vectors side by side. What functions are made of, and nothing else, are
/// fused multiply-adds, each of which waits for the one before.
llvm::MDNode* ofTwoVectors(llvm::LLVMContext& context) {
  llvm::MDNode* count = llvm::MDNode::get(
      context,
      {llvm::MDString::get(context, "llvm.loop.interleave.count"),
       llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 2))});
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, count});
  loop->replaceOperandWith(0, loop);
  return loop;
}

class Emitter : public FunctionCode {
public:
  explicit Emitter(const Kernel& kernel, Overwriting given = {})
      : kernel(kernel), over(std::move(given)) {
    for (const auto& [stored, argument] : over)
      overwritten[argument] = {};
  }

  KernelCode emit();
  /// Arguments that the code reads at other places than it writes over them, or after that.
  const llvm::DenseSet<mlir::Value>& spoiled() const { return found; }

private:
  const Kernel& kernel;
  const Overwriting over;
  struct Overwritten {
    llvm::SmallVector<Index> reads;
    bool isWritten = false;
  };
  llvm::DenseMap<mlir::Value, Overwritten> overwritten;
  llvm::DenseSet<mlir::Value> found;

  /// Of members: the phase in which they can be computed; a reduction's, in which it runs.
  llvm::DenseMap<mlir::Operation*, int> phases;
  llvm::DenseSet<mlir::Operation*> ofRows; ///< computed once a row
  int phaseCount = 0;
  int phase = 0;
  bool isInColumns = false;
  llvm::DenseMap<mlir::Value, llvm::Value*> rowValues, columnValues;
  llvm::DenseMap<mlir::Value, llvm::AllocaInst*> kept;

  Index row() const { return Index::variable(kRow, kernel.rows); }
  Index place() const { return row() * kernel.columns + Index::variable(kColumn, kernel.columns); }
  bool isMember(mlir::Value value) const {
    return value.getDefiningOp() != nullptr && kernel.members.contains(value.getDefiningOp());
  }
  static bool isReduction(mlir::Operation* op) { return llvm::isa<stablehlo::ReduceOp>(op); }

  void collectArguments(mlir::Value value, llvm::DenseSet<mlir::Value>& seen);
  void planPhases();
  void planKept(mlir::Operation* member, int atPhase);
  int costOfRepeating(mlir::Value value);

  llvm::Value* element(mlir::Value value, const Index& linear) override;
  llvm::Value* member(mlir::Operation* op, mlir::Value result, const Index& linear);
  llvm::Value* compute(mlir::Operation* op, const Index& linear);
  llvm::Value* ofConcatenate(stablehlo::ConcatenateOp op, const Index& linear);
  llvm::Value* ofPad(stablehlo::PadOp op, const Index& linear);
  llvm::Value* ofDynamicSlice(stablehlo::DynamicSliceOp op, const Index& linear);
  llvm::Value* ofGather(stablehlo::GatherOp op, const Index& linear);
  Index clampedStart(mlir::Value starts, const Index& linear, std::int64_t largest);
  Sums begun(stablehlo::ReduceOp op);
  static Index placeIn(stablehlo::ReduceOp op, mlir::Value input, const Index& row,
                       const Index& column, Variables& variables);
  llvm::SmallVector<llvm::Value*> elementsOf(const Sums& sums);
  void finish(const Sums& sums);

  bool readsAcrossRows();
  void emitAcrossRows();
  void emitRow();
  void emitRowMembers(int upTo);
  void emitColumns();
  void storeIfAsked(mlir::Value value, llvm::Value* computed, const Index& linear);
  template <typename Body> void loop(llvm::Value* begin, llvm::Value* end, Body body);
  template <typename Body> void plainLoop(llvm::Value* begin, llvm::Value* end, Body body);
  template <typename Body>
  void loopOverRanges(llvm::Value* begin, llvm::Value* end, std::int64_t step, Body body);
};

/// Memory that the code reads, found before there is code, so that the function has its arguments.
void Emitter::collectArguments(mlir::Value value, llvm::DenseSet<mlir::Value>& seen) {
  if (!seen.insert(value).second)
    return;
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || (!kernel.members.contains(op) && !isInlined(op))) {
    addArgument(value);
    return;
  }
  for (mlir::Value operand : op->getOperands())
    collectArguments(operand, seen);
}

/// Calls f for the results of members that an operation's operands are, or are views of.
template <typename F>
void forMembersRead(const llvm::SetVector<mlir::Operation*>& members, mlir::Operation* op, F f) {
  for (mlir::Value operand : op->getOperands()) {
    while (isView(operand.getDefiningOp()) && !members.contains(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    if (operand.getDefiningOp() != nullptr && members.contains(operand.getDefiningOp()))
      f(operand);
  }
}

void Emitter::planPhases() {
  for (mlir::Operation* op : kernel.members) {
    int first = 0;
    forMembersRead(kernel.members, op, [&](mlir::Value read) {
      mlir::Operation* source = read.getDefiningOp();
      first = std::max(first, phases.lookup(source) + (isReduction(source) ? 1 : 0));
    });
    phases[op] = first;
    const bool isOfRow =
        kernel.columns != 1 && !isReduction(op) && sizeOf(op->getResult(0)) == kernel.rows;
    if (isOfRow)
      ofRows.insert(op);
    else
      phaseCount = std::max(phaseCount, first + 1);
  }
}

int Emitter::costOfRepeating(mlir::Value value) {
  while (isView(value.getDefiningOp()) && !kernel.members.contains(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || !kernel.members.contains(op) || isReduction(op) || ofRows.contains(op) ||
      kernel.stored.contains(value) || kept.contains(value))
    return 1;
  int cost = costOf(op);
  for (mlir::Value operand : op->getOperands())
    cost += costOfRepeating(operand);
  return cost;
}

/// Finds what a phase needs of earlier ones.
void Emitter::planKept(mlir::Operation* user, int atPhase) {
  forMembersRead(kernel.members, user, [&](mlir::Value result) {
    mlir::Operation* source = result.getDefiningOp();
    if (isReduction(source) || ofRows.contains(source))
      return;
    if (phases.lookup(source) < atPhase) {
      if (kernel.stored.contains(result) || kept.contains(result))
        return;
      if (costOfRepeating(result) >= kDearToRepeat) {
        kept[result] = nullptr;
        return;
      }
    }
    planKept(source, atPhase);
  });
}

llvm::Value* Emitter::element(mlir::Value value, const Index& linear) {
  if (isArgument(value) && !kernel.stored.contains(value)) {
    // Code is made in the order in which it runs, and each place is one row's and column's.
    if (const auto argument = overwritten.find(value); argument != overwritten.end()) {
      argument->second.reads.push_back(linear);
      if (argument->second.isWritten)
        found.insert(value);
    }
    return load(value, linear);
  }
  mlir::Operation* op = value.getDefiningOp();
  if (kernel.members.contains(op))
    return member(op, value, linear);
  if (isView(op)) {
    const Element source = sourceOf(op, linear, *this);
    return element(source.tensor, source.linear);
  }
  if (const auto bits = splatBits(value))
    return scalars.constant(elementOf(value), *bits);
  auto iota = mlir::cast<stablehlo::IotaOp>(op);
  const auto indices = indicesOf(linear, shapeOf(value), *this);
  return scalars.convert(mlir::IntegerType::get(value.getContext(), 64), elementOf(value),
                         code(indices[iota.getIotaDimension()]));
}

llvm::Value* Emitter::member(mlir::Operation* op, mlir::Value result, const Index& linear) {
  if (llvm::Value* known = rowValues.lookup(result))
    return known;
  if (llvm::Value* known = columnValues.lookup(result))
    return known;
  if (isInColumns && phases.lookup(op) < phase && !ofRows.contains(op)) {
    if (kernel.stored.contains(result))
      return columnValues[result] = load(result, linear);
    if (llvm::AllocaInst* buffer = kept.lookup(result))
      return columnValues[result] = b.CreateLoad(
                 buffer->getAllocatedType(),
                 b.CreateInBoundsGEP(buffer->getAllocatedType(), buffer, variable(kColumn)));
  }
  auto& values = isInColumns && !ofRows.contains(op) ? columnValues : rowValues;
  if (auto window = mlir::dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    const Values sums = emitSums(*this, window, linear);
    for (const auto& [each, sum] : llvm::zip(op->getResults(), sums))
      values[each] = sum;
    return values[result];
  }
  return values[result] = compute(op, linear);
}

llvm::Value* Emitter::compute(mlir::Operation* op, const Index& linear) {
  return llvm::TypeSwitch<mlir::Operation*, llvm::Value*>(op)
      .Case(
          [&](stablehlo::ConcatenateOp concatenate) { return ofConcatenate(concatenate, linear); })
      .Case([&](stablehlo::PadOp pad) { return ofPad(pad, linear); })
      .Case([&](stablehlo::DynamicSliceOp slice) { return ofDynamicSlice(slice, linear); })
      .Case([&](stablehlo::GatherOp gather) { return ofGather(gather, linear); })
      .Case<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(
          [&](auto sum) { return emitSum(*this, sum, linear); })
      .Default([&](mlir::Operation*) {
        llvm::SmallVector<llvm::Value*> operands;
        for (mlir::Value operand : op->getOperands()) {
          // A scalar may stand for the whole shape (select, clamp).
          const bool isSpread = shapeOf(operand).empty();
          operands.push_back(element(operand, isSpread ? Index() : linear));
        }
        return emitElementwise(scalars, op, operands);
      });
}

llvm::Value* Emitter::ofConcatenate(stablehlo::ConcatenateOp op, const Index& linear) {
  const auto axis = static_cast<std::size_t>(op.getDimension());
  auto indices = indicesOf(linear, shapeOf(op.getResult()), *this);
  llvm::Value* place = code(indices[axis]);
  llvm::Value* value = nullptr;
  std::int64_t begin = 0;
  for (mlir::Value input : op.getInputs()) {
    const std::int64_t extent = shapeOf(input)[axis];
    if (extent == 0)
      continue;
    // Each input is read at a place that it has, and chosen afterwards.
    llvm::Value* own = b.CreateNSWSub(place, b.getInt64(begin));
    own = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, own, b.getInt64(0));
    own = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, own, b.getInt64(extent - 1));
    auto at = indices;
    at[axis] = Index::variable(define(own, extent), extent);
    llvm::Value* read = element(input, linearIndex(at, shapeOf(input)));
    value = value == nullptr
                ? read
                : b.CreateSelect(b.CreateICmpSGE(place, b.getInt64(begin)), read, value);
    begin += extent;
  }
  return value;
}

llvm::Value* Emitter::ofPad(stablehlo::PadOp op, const Index& linear) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand());
  llvm::Value* padding = element(op.getPaddingValue(), Index());
  if (sizeOf(op.getOperand()) == 0)
    return padding;
  auto indices = indicesOf(linear, shapeOf(op.getResult()), *this);
  llvm::Value* isInside = b.getTrue();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t low = op.getEdgePaddingLow()[axis], high = op.getEdgePaddingHigh()[axis];
    const std::int64_t step = op.getInteriorPadding()[axis] + 1;
    if (low == 0 && high == 0 && step == 1)
      continue;
    llvm::Value* place = b.CreateNSWSub(code(indices[axis]), b.getInt64(low));
    isInside = b.CreateAnd(isInside, b.CreateICmpSGE(place, b.getInt64(0)));
    place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, place, b.getInt64(0));
    if (step != 1) {
      isInside = b.CreateAnd(isInside,
                             b.CreateICmpEQ(b.CreateURem(place, b.getInt64(step)), b.getInt64(0)));
      place = b.CreateUDiv(place, b.getInt64(step));
    }
    isInside = b.CreateAnd(isInside, b.CreateICmpSLT(place, b.getInt64(shape[axis])));
    place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, place, b.getInt64(shape[axis] - 1));
    indices[axis] = Index::variable(define(place, shape[axis]), shape[axis]);
  }
  return b.CreateSelect(isInside, element(op.getOperand(), linearIndex(indices, shape)), padding);
}

/// A start that the program computes, from 0 to `largest`.
Index Emitter::clampedStart(mlir::Value starts, const Index& linear, std::int64_t largest) {
  if (largest == 0)
    return Index();
  llvm::Value* start = element(starts, linear);
  if (conversion::isUnsigned(elementOf(starts))) {
    if (start->getType()->getIntegerBitWidth() < 64)
      start = b.CreateZExt(start, b.getInt64Ty());
    start = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, start, b.getInt64(largest));
  } else {
    start = b.CreateSExt(start, b.getInt64Ty());
    start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, start, b.getInt64(0));
    start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, b.getInt64(largest));
  }
  return Index::variable(define(start, largest + 1), largest + 1);
}

llvm::Value* Emitter::ofDynamicSlice(stablehlo::DynamicSliceOp op, const Index& linear) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand());
  auto indices = indicesOf(linear, shapeOf(op.getResult()), *this);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    indices[axis] = indices[axis] + clampedStart(op.getStartIndices()[static_cast<unsigned>(axis)],
                                                 Index(), shape[axis] - op.getSliceSizes()[axis]);
  return element(op.getOperand(), linearIndex(indices, shape));
}

llvm::Value* Emitter::ofGather(stablehlo::GatherOp op, const Index& linear) {
  const auto numbers = op.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getOperand());
  const llvm::ArrayRef<std::int64_t> startShape = shapeOf(op.getStartIndices());
  const auto at = indicesOf(linear, shapeOf(op.getResult()), *this);
  llvm::SmallVector<Index> batch, offset;
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    (llvm::is_contained(numbers.getOffsetDims(), static_cast<std::int64_t>(axis)) ? offset : batch)
        .push_back(at[axis]);
  const auto vectorAxis = static_cast<std::size_t>(numbers.getIndexVectorDim());

  llvm::SmallVector<Index> indices(shape.size());
  std::size_t nextOffset = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto name = static_cast<std::int64_t>(axis);
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), name) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), name))
      indices[axis] = offset[nextOffset++];
  }
  for (const auto [component, axis] : llvm::enumerate(numbers.getStartIndexMap())) {
    llvm::SmallVector<Index> start(batch);
    if (vectorAxis < startShape.size())
      start.insert(start.begin() + static_cast<std::ptrdiff_t>(vectorAxis),
                   Index(static_cast<std::int64_t>(component)));
    const auto operandAxis = static_cast<std::size_t>(axis);
    indices[operandAxis] =
        indices[operandAxis] + clampedStart(op.getStartIndices(), linearIndex(start, startShape),
                                            shape[operandAxis] - op.getSliceSizes()[operandAxis]);
  }
  for (const auto [ours, theirs] :
       llvm::zip(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims())) {
    const auto inBatch =
        static_cast<std::size_t>(theirs) - (static_cast<std::size_t>(theirs) > vectorAxis ? 1 : 0);
    indices[static_cast<std::size_t>(ours)] = batch[inBatch];
  }
  return element(op.getOperand(), linearIndex(indices, shape));
}

template <typename Body> void Emitter::loop(llvm::Value* begin, llvm::Value* end, Body body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(b.getContext(), "loop", function());
  auto* after = llvm::BasicBlock::Create(b.getContext(), "after", function());
  b.CreateCondBr(b.CreateICmpSLT(begin, end), head, after);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  const auto finish = body(i, before, head);
  llvm::Value* next = b.CreateNSWAdd(i, b.getInt64(1));
  llvm::BasicBlock* last = b.GetInsertBlock();
  i->addIncoming(next, last);
  llvm::Instruction* again = b.CreateCondBr(b.CreateICmpSLT(next, end), head, after);
  if (last == head && llvm::any_of(*head, isFusedMultiplyAdd))
    again->setMetadata(llvm::LLVMContext::MD_loop, ofTwoVectors(b.getContext()));
  b.SetInsertPoint(after);
  finish(before, last);
}

void Emitter::storeIfAsked(mlir::Value value, llvm::Value* computed, const Index& linear) {
  if (!kernel.stored.contains(value))
    return;
  if (const auto argument = over.find(value); argument != over.end()) {
    Overwritten& known = overwritten[argument->second];
    known.isWritten = true;
    if (llvm::any_of(known.reads, [&](const Index& read) { return read != linear; }))
      found.insert(argument->second);
  }
  store(value, computed, linear);
}

/// A loop of which nothing is left.
template <typename Body> void Emitter::plainLoop(llvm::Value* begin, llvm::Value* end, Body body) {
  loop(begin, end, [&](llvm::PHINode* each, llvm::BasicBlock*, llvm::BasicBlock*) {
    body(each);
    return [](llvm::BasicBlock*, llvm::BasicBlock*) {};
  });
}

/// Calls body(begin, end) for ranges of `step`, the last one shorter.
template <typename Body>
void Emitter::loopOverRanges(llvm::Value* begin, llvm::Value* end, std::int64_t step, Body body) {
  llvm::Value* extent = b.CreateNSWSub(end, begin);
  llvm::Value* ranges =
      b.CreateUDiv(b.CreateNSWAdd(extent, b.getInt64(step - 1)), b.getInt64(step));
  plainLoop(b.getInt64(0), ranges, [&](llvm::Value* range) {
    llvm::Value* from = b.CreateNSWAdd(begin, b.CreateNSWMul(range, b.getInt64(step)));
    llvm::Value* to = b.CreateNSWAdd(from, b.getInt64(step));
    body(from, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, end));
  });
}

Sums Emitter::begun(stablehlo::ReduceOp op) {
  Sums sums(op);
  for (std::size_t i = 0; i < op.getInputs().size(); ++i) {
    const mlir::Value init = op.getInitValues()[static_cast<unsigned>(i)];
    sums.first.push_back(
        sums.combination.enter(scalars, i, elementOf(init), element(init, Index())));
  }
  return sums;
}

/// The element of an input that a row and column of a reduction are.
Index Emitter::placeIn(stablehlo::ReduceOp op, mlir::Value input, const Index& row,
                       const Index& column, Variables& variables) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(input);
  llvm::SmallVector<std::int64_t> axes(op.getDimensions().begin(), op.getDimensions().end());
  llvm::sort(axes);
  llvm::SmallVector<std::int64_t> inner;
  for (const std::int64_t axis : axes)
    inner.push_back(shape[static_cast<std::size_t>(axis)]);
  const auto outside = indicesOf(row, shapeOf(op.getResult(0)), variables);
  const auto inside = indicesOf(column, inner, variables);
  llvm::SmallVector<Index> indices;
  std::size_t nextOut = 0, nextIn = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    indices.push_back(llvm::is_contained(axes, static_cast<std::int64_t>(axis))
                          ? inside[nextIn++]
                          : outside[nextOut++]);
  return linearIndex(indices, shape);
}

llvm::SmallVector<llvm::Value*> Emitter::elementsOf(const Sums& sums) {
  llvm::SmallVector<llvm::Value*> elements;
  for (std::size_t i = 0; i < sums.op->getNumOperands() / 2; ++i) {
    const mlir::Value input = sums.op->getOperand(static_cast<unsigned>(i));
    const Index linear =
        placeIn(sums.op, input, row(), Index::variable(kColumn, kernel.columns), *this);
    elements.push_back(
        sums.combination.enter(scalars, i, elementOf(input), element(input, linear)));
  }
  return elements;
}

/// The loop of a phase.
void Emitter::emitColumns() {
  std::vector<Sums> sums;
  llvm::SmallVector<mlir::Value> computed;
  for (mlir::Operation* op : kernel.members) {
    if (ofRows.contains(op) || phases.lookup(op) != phase)
      continue;
    if (auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op)) {
      sums.push_back(begun(reduce));
      sums.back().begun = sums.back().combination.split(scalars, sums.back().first);
    } else {
      for (mlir::Value result : op->getResults())
        if (kernel.stored.contains(result) || kept.contains(result))
          computed.push_back(result);
    }
  }
  llvm::SmallVector<mlir::Value> views;
  if (phase == 0)
    for (mlir::Value value : kernel.stored)
      if (!isMember(value))
        views.push_back(value);
  if (sums.empty() && computed.empty() && views.empty())
    return;

  loop(b.getInt64(0), b.getInt64(kernel.columns),
       [&](llvm::PHINode* column, llvm::BasicBlock* before, llvm::BasicBlock*) {
         isInColumns = true;
         columnValues.clear();
         redefine(kColumn, column);
         for (Sums& sum : sums)
           for (llvm::Value* begun : sum.begun) {
             sum.running.push_back(b.CreatePHI(begun->getType(), 2));
             sum.running.back()->addIncoming(begun, before);
           }
         // What is stored may lie over what is read, so that all is read before.
         llvm::SmallVector<std::pair<mlir::Value, llvm::Value*>> stored;
         for (mlir::Value view : views)
           stored.emplace_back(view, element(view, place()));
         for (mlir::Value result : computed) {
           llvm::Value* value = element(result, place());
           stored.emplace_back(result, value);
           if (llvm::AllocaInst* buffer = kept.lookup(result))
             b.CreateStore(
                 value, b.CreateInBoundsGEP(buffer->getAllocatedType(), buffer, variable(kColumn)));
         }
         for (Sums& sum : sums)
           sum.next = sum.combination.combineSplit(
               scalars, llvm::SmallVector<llvm::Value*>(sum.running.begin(), sum.running.end()),
               elementsOf(sum));
         for (const auto& [result, value] : stored)
           storeIfAsked(result, value, place());
         isInColumns = false;
         return [&](llvm::BasicBlock* skipped, llvm::BasicBlock* last) {
           for (Sums& sum : sums)
             for (std::size_t i = 0; i < sum.running.size(); ++i) {
               sum.running[i]->addIncoming(sum.next[i], last);
               llvm::PHINode* result = b.CreatePHI(sum.running[i]->getType(), 2);
               result->addIncoming(sum.begun[i], skipped);
               result->addIncoming(sum.next[i], last);
               sum.results.push_back(result);
             }
         };
       });
  columnValues.clear();
  for (Sums& sum : sums) {
    sum.results = sum.combination.joined(scalars, sum.results);
    finish(sum);
  }
}

/// A row's results.
void Emitter::finish(const Sums& sums) {
  for (std::size_t i = 0; i < sums.results.size(); ++i) {
    const mlir::Value result = sums.op->getResult(static_cast<unsigned>(i));
    llvm::Value* value = sums.combination.leave(scalars, i, sums.results[i]);
    rowValues[result] = value;
    storeIfAsked(result, value, row());
  }
}

/// Whether one loop over the columns is all there is, in which what is next to an element in memory
/// is of the next row, of enough rows; without sums, if no more is read and written along a row.
bool Emitter::readsAcrossRows() {
  if (phaseCount > 1 || kernel.columns == 1 || kernel.rows < kRowsOfLine)
    return false;
  const Index column = Index::variable(kColumn, kernel.columns);
  std::size_t across = 0, along = kernel.stored.size();
  const auto look = [&](mlir::Value value, const Index& linear) {
    Unknowns unknowns(kColumn + 1);
    const Element source = sourceOf({value, linear}, unknowns);
    if (isInlined(source.tensor.getDefiningOp()))
      return;
    const auto goesOverNeighbours = [&](int variable) {
      return llvm::any_of(source.linear.digits(), [&](const Index::Digit& digit) {
        return digit.variable == variable && digit.divisor == 1 && digit.factor == 1 &&
               digit.modulus >= kRowsOfLine;
      });
    };
    if (goesOverNeighbours(kColumn))
      ++along;
    else if (goesOverNeighbours(kRow))
      ++across;
  };
  bool isReduced = false, isPlain = true;
  for (mlir::Operation* op : kernel.members) {
    isReduced |= isReduction(op);
    isPlain &= isReduction(op) || isCompiledElementwise(op);
  }
  if (!isPlain)
    return false;
  if (isReduced) {
    // Nothing but sums has a value for each element.
    for (mlir::Value value : kernel.stored)
      if (sizeOf(value) != kernel.rows)
        return false;
    Unknowns unknowns(kColumn + 1);
    for (mlir::Operation* op : kernel.members)
      if (auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op))
        for (mlir::Value input : reduce.getInputs())
          look(input, placeIn(reduce, input, row(), column, unknowns));
    return across != 0;
  }
  for (mlir::Operation* op : kernel.members)
    for (mlir::Value operand : op->getOperands())
      if (!shapeOf(operand).empty())
        look(operand, place());
  for (mlir::Value value : kernel.stored)
    if (!isMember(value))
      look(value, place());
  return across >= along;
}

/// Rows a few at a time, one column after the other: what is read beside each other is taken
/// together, and a line of the cache is used before it is driven out.
void Emitter::emitAcrossRows() {
  std::vector<Sums> sums;
  for (mlir::Operation* op : kernel.members)
    if (auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op))
      sums.push_back(begun(reduce));
  std::vector<llvm::SmallVector<llvm::AllocaInst*>> memory;
  for (const Sums& sum : sums) {
    memory.emplace_back();
    for (llvm::Value* first : sum.first)
      memory.back().push_back(b.CreateAlloca(first->getType(), b.getInt64(kRowsOfSum)));
  }
  const auto forSums = [&](llvm::Value* place, auto f) {
    for (const auto& [sum, buffers] : llvm::zip(sums, memory)) {
      llvm::SmallVector<llvm::Value*> places;
      for (llvm::AllocaInst* buffer : buffers)
        places.push_back(b.CreateInBoundsGEP(buffer->getAllocatedType(), buffer, place));
      f(sum, places);
    }
  };
  const auto loaded = [&](const Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
    llvm::SmallVector<llvm::Value*> values;
    for (const auto& [first, place] : llvm::zip(sum.first, places))
      values.push_back(b.CreateLoad(first->getType(), place));
    return values;
  };
  const auto stored = [&](llvm::ArrayRef<llvm::Value*> values,
                          llvm::ArrayRef<llvm::Value*> places) {
    for (const auto& [value, place] : llvm::zip(values, places))
      b.CreateStore(value, place);
  };
  const auto enter = [&](llvm::Value* row, llvm::Value* column) {
    rowValues.clear();
    columnValues.clear();
    redefine(kRow, row);
    redefine(kColumn, column);
  };
  const std::int64_t rows = sums.empty() ? kRowsOfLine : kRowsOfSum;
  const std::int64_t columns = sums.empty() ? kRowsOfLine : kernel.columns;
  loopOverRanges(firstRow(), endRow(), rows, [&](llvm::Value* begin, llvm::Value* end) {
    const auto placeOf = [&](llvm::Value* row) { return b.CreateNSWSub(row, begin); };
    if (!sums.empty())
      plainLoop(begin, end, [&](llvm::Value* row) {
        forSums(placeOf(row), [&](const Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
          stored(sum.first, places);
        });
      });
    loopOverRanges(
        b.getInt64(0), b.getInt64(kernel.columns), columns,
        [&](llvm::Value* firstColumn, llvm::Value* endColumn) {
          plainLoop(firstColumn, endColumn, [&](llvm::Value* column) {
            plainLoop(begin, end, [&](llvm::Value* row) {
              enter(row, column);
              isInColumns = true;
              forSums(placeOf(row), [&](const Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
                stored(sum.combination.combine(scalars, loaded(sum, places), elementsOf(sum)),
                       places);
              });
              if (sums.empty()) {
                llvm::SmallVector<llvm::Value*> computed;
                for (mlir::Value value : kernel.stored)
                  computed.push_back(element(value, place()));
                for (const auto& [value, each] : llvm::zip(kernel.stored, computed))
                  storeIfAsked(value, each, place());
              }
              isInColumns = false;
            });
          });
        });
    if (!sums.empty())
      plainLoop(begin, end, [&](llvm::Value* row) {
        enter(row, b.getInt64(0));
        forSums(placeOf(row), [&](Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
          sum.results = loaded(sum, places);
          finish(sum);
        });
        emitRowMembers(std::numeric_limits<int>::max());
      });
  });
}

/// What has a value a row, of the phases up to one.
void Emitter::emitRowMembers(int upTo) {
  for (mlir::Operation* op : kernel.members)
    if (ofRows.contains(op) && phases.lookup(op) <= upTo && !rowValues.contains(op->getResult(0)))
      for (mlir::Value result : op->getResults())
        storeIfAsked(result, element(result, row()), row());
}

void Emitter::emitRow() {
  rowValues.clear();
  if (kernel.columns == 1 && phaseCount <= 1 && llvm::none_of(kernel.members, isReduction)) {
    llvm::SmallVector<llvm::Value*> computed;
    for (mlir::Value value : kernel.stored)
      computed.push_back(element(value, row()));
    for (const auto& [value, element] : llvm::zip(kernel.stored, computed))
      storeIfAsked(value, element, row());
    return;
  }
  for (phase = 0; phase < std::max(phaseCount, 1); ++phase) {
    emitRowMembers(phase);
    emitColumns();
  }
  emitRowMembers(std::numeric_limits<int>::max());
}

KernelCode Emitter::emit() {
  llvm::DenseSet<mlir::Value> seen;
  for (mlir::Operation* op : kernel.members)
    for (mlir::Value operand : op->getOperands())
      collectArguments(operand, seen);
  for (mlir::Value value : kernel.stored) {
    if (!isMember(value))
      for (mlir::Value operand : value.getDefiningOp()->getOperands())
        collectArguments(operand, seen);
    if (!over.contains(value))
      addArgument(value);
  }
  for (const auto& [value, argument] : over)
    addArgument(value, argument);
  planPhases();
  for (mlir::Operation* op : kernel.members)
    if (!ofRows.contains(op))
      planKept(op, phases.lookup(op));

  begin();
  for (mlir::Operation* op : kernel.members)
    for (mlir::Value result : op->getResults())
      if (const auto buffer = kept.find(result); buffer != kept.end()) {
        llvm::Type* type = scalars.registerType(elementOf(result));
        buffer->second = b.CreateAlloca(type, b.getInt64(kernel.columns));
      }
  const int row = define(nullptr, kernel.rows);
  define(b.getInt64(0), kernel.columns);
  if (readsAcrossRows())
    emitAcrossRows();
  else
    plainLoop(firstRow(), endRow(), [&](llvm::Value* each) {
      redefine(row, each);
      emitRow();
    });
  return FunctionCode::finish();
}

} // namespace

KernelCode emitKernel(const Kernel& kernel) { return Emitter(kernel).emit(); }

std::optional<KernelCode> emitKernel(const Kernel& kernel, Overwriting& over) {
  while (!over.empty()) {
    Emitter emitter(kernel, over);
    KernelCode code = emitter.emit();
    if (emitter.spoiled().empty())
      return code;
    over.remove_if([&](const auto& each) { return emitter.spoiled().contains(each.second); });
  }
  return std::nullopt;
}

} // namespace octavo::conversion
