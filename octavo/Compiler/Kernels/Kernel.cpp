#include "octavo/Compiler/Kernels/Kernel.h"

#include "octavo/Compiler/Kernels/Arithmetic.h"
#include "octavo/Compiler/Kernels/KernelEmitter.h"
#include "octavo/Compiler/Kernels/Views.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"

namespace octavo::compiler {

namespace {

/// The cost of recomputing a value, in additions, from which on it is kept in a buffer.
constexpr int kDearToRepeat = 8;
/// Rows that are computed together if their elements in a column are adjacent: one cache line for
/// elements, several vectors for sums.
constexpr std::int64_t kRowsOfLine = 16, kRowsOfSum = 64;
/// The most loops that the columns of a row are split into; each adds code.
constexpr std::size_t kMostParts = 128;
constexpr std::int64_t kFewTurns = 8;
/// Loops with this many instructions keep the CPU busy without a second vector.
constexpr std::size_t kManyInstructions = 1024;

bool isFusedMultiplyAdd(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

/// The loop's `!llvm.loop` metadata with these hints.
llvm::MDNode* loopOf(llvm::LLVMContext& context, llvm::ArrayRef<llvm::Metadata*> asked) {
  llvm::SmallVector<llvm::Metadata*> all = {nullptr};
  llvm::append_range(all, asked);
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, all);
  loop->replaceOperandWith(0, loop);
  return loop;
}

/// Hint: compute two vectors side by side. Emitted functions are chains of fused multiply-adds,
/// each of which waits for the one before; fma marks loops that have them.
llvm::MDNode* ofTwoVectors(llvm::LLVMContext& context) {
  return loopOf(context, llvm::MDNode::get(
                             context, {llvm::MDString::get(context, "llvm.loop.interleave.count"),
                                       llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
                                           llvm::Type::getInt32Ty(context), 2))}));
}

/// Hint: do not unroll. A hundred loops of a few iterations each would take seconds to compile if
/// unrolled.
llvm::MDNode* ofFewTurns(llvm::LLVMContext& context) {
  return loopOf(context, llvm::MDNode::get(
                             context, llvm::MDString::get(context, "llvm.loop.unroll.disable")));
}

} // namespace

/// Adds the values that the code reads in memory as arguments. The function needs them before there
/// is code.
void KernelEmitter::collectArguments(mlir::Value value, llvm::DenseSet<mlir::Value>& seen) {
  llvm::SmallVector<mlir::Value> open{value};
  while (!open.empty()) {
    const mlir::Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    mlir::Operation* op = next.getDefiningOp();
    if (op == nullptr || (!kernel.members.contains(op) && !isInlined(op)))
      addArgument(next);
    else
      llvm::append_range(open, llvm::reverse(op->getOperands()));
  }
}

/// Calls f for each result of a member that the operation reads, directly or through views.
template <typename F>
static void forMembersRead(const llvm::SetVector<mlir::Operation*>& members, mlir::Operation* op,
                           F f) {
  for (mlir::Value operand : op->getOperands()) {
    while (isView(operand.getDefiningOp()) && !members.contains(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    if (operand.getDefiningOp() != nullptr && members.contains(operand.getDefiningOp()))
      f(operand);
  }
}

void KernelEmitter::planPhases() {
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

/// Whether it costs at least kDearToRepeat to recompute a value. Counts every use of its operands,
/// and stops at the limit, however often values use one another.
bool KernelEmitter::isDearToRepeat(mlir::Value value) const {
  int cost = 0;
  llvm::SmallVector<mlir::Value> open{value};
  while (!open.empty() && cost < kDearToRepeat) {
    mlir::Value next = open.pop_back_val();
    while (isView(next.getDefiningOp()) && !kernel.members.contains(next.getDefiningOp()))
      next = next.getDefiningOp()->getOperand(0);
    mlir::Operation* op = next.getDefiningOp();
    if (op == nullptr || !kernel.members.contains(op) || isReduction(op) || ofRows.contains(op) ||
        kernel.stored.contains(next) || kept.contains(next)) {
      ++cost;
      continue;
    }
    cost += costOf(op);
    llvm::append_range(open, op->getOperands());
  }
  return cost >= kDearToRepeat;
}

/// Determines which earlier values a phase must keep. A value that was visited for a phase is not
/// visited again: keeping more values since then has only made recomputation cheaper.
void KernelEmitter::planKept(mlir::Operation* user, int atPhase) {
  if (!planned.insert({user, atPhase}).second)
    return;
  forMembersRead(kernel.members, user, [&](mlir::Value result) {
    mlir::Operation* source = result.getDefiningOp();
    if (isReduction(source) || ofRows.contains(source))
      return;
    if (phases.lookup(source) < atPhase) {
      if (kernel.stored.contains(result) || kept.contains(result))
        return;
      if (isDearToRepeat(result)) {
        kept[result] = nullptr;
        return;
      }
    }
    planKept(source, atPhase);
  });
}

/// The number of iterations of a loop with constant bounds.
static std::optional<std::int64_t> turnsOf(llvm::Value* begin, llvm::Value* end) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first == nullptr || last == nullptr)
    return std::nullopt;
  // A loop that is entered without a check must run at least once.
  static_cast<void>(isLess(first->getSExtValue(), last->getSExtValue()));
  return last->getSExtValue() - first->getSExtValue();
}

template <typename Body> void KernelEmitter::loop(llvm::Value* begin, llvm::Value* end, Body body) {
  const std::optional<std::int64_t> turns = turnsOf(begin, end);
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
  if (last == head && head->size() < kManyInstructions && llvm::any_of(*head, isFusedMultiplyAdd))
    again->setMetadata(llvm::LLVMContext::MD_loop, ofTwoVectors(b.getContext()));
  else if (!partRead.empty() && turns && *turns < kFewTurns)
    again->setMetadata(llvm::LLVMContext::MD_loop, ofFewTurns(b.getContext()));
  b.SetInsertPoint(after);
  finish(before, last);
}

void KernelEmitter::storeIfAsked(mlir::Value value, llvm::Value* computed, const Index& linear) {
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

/// A loop that carries no values.
template <typename Body>
void KernelEmitter::plainLoop(llvm::Value* begin, llvm::Value* end, Body body) {
  loop(begin, end, [&](llvm::PHINode* each, llvm::BasicBlock*, llvm::BasicBlock*) {
    body(each);
    return [](llvm::BasicBlock*, llvm::BasicBlock*) {};
  });
}

/// Calls body(begin, end) for ranges of `step`, the last one shorter. The code divides for the
/// number of ranges even if the bounds are constants: kernelOfItems has no extent for a rounded
/// quotient of the batch size.
template <typename Body>
void KernelEmitter::loopOverRanges(llvm::Value* begin, llvm::Value* end, std::int64_t step,
                                   Body body) {
  llvm::Value* extent = b.CreateNSWSub(end, begin);
  llvm::Value* ranges = b.Insert(llvm::BinaryOperator::CreateUDiv(
      b.CreateNSWAdd(extent, b.getInt64(step - 1)), b.getInt64(step)));
  plainLoop(b.getInt64(0), ranges, [&](llvm::Value* range) {
    llvm::Value* from = b.CreateNSWAdd(begin, b.CreateNSWMul(range, b.getInt64(step)));
    llvm::Value* to = b.CreateNSWAdd(from, b.getInt64(step));
    body(from, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, end));
  });
}

Sums KernelEmitter::begun(stablehlo::ReduceOp op) {
  Sums sums(op);
  for (std::size_t i = 0; i < op.getInputs().size(); ++i) {
    const mlir::Value init = op.getInitValues()[static_cast<unsigned>(i)];
    sums.first.push_back(
        sums.combination.enter(scalars, i, elementOf(init), element(init, Index())));
  }
  return sums;
}

/// The element of `input` at a row and column of a reduction.
Index KernelEmitter::placeIn(stablehlo::ReduceOp op, mlir::Value input, const Index& row,
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

llvm::SmallVector<llvm::Value*> KernelEmitter::elementsOf(const Sums& sums) {
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

static std::int64_t columnsOfPlace(stablehlo::ConcatenateOp op) {
  return rowMajorStrides(shapeOf(op.getResult()))[op.getDimension()];
}

/// The concatenations along the columns of this phase.
llvm::SmallVector<stablehlo::ConcatenateOp> KernelEmitter::joinedColumns() {
  llvm::SmallVector<stablehlo::ConcatenateOp> joined;
  for (mlir::Operation* op : kernel.members)
    if (auto concatenate = mlir::dyn_cast<stablehlo::ConcatenateOp>(op))
      if (!ofRows.contains(op) && phases.lookup(op) <= phase &&
          columnsOfPlace(concatenate) *
                  shapeOf(concatenate.getResult())[concatenate.getDimension()] ==
              kernel.columns)
        joined.push_back(concatenate);
  return joined;
}

/// Calls loop(begin, end) for all columns. Concatenated tensors get a loop each, so that an
/// iteration reads one of them instead of one element of each.
template <typename Loop> void KernelEmitter::loopOverParts(Loop loop) {
  const llvm::SmallVector<stablehlo::ConcatenateOp> joined = joinedColumns();
  llvm::SmallVector<std::int64_t> ends;
  for (stablehlo::ConcatenateOp op : joined) {
    std::int64_t end = 0;
    for (mlir::Value input : op.getInputs())
      ends.push_back(end += columnsOfPlace(op) * shapeOf(input)[op.getDimension()]);
  }
  llvm::sort(ends);
  ends.erase(llvm::unique(ends), ends.end());
  if (ends.size() <= 1 || ends.size() > kMostParts)
    return loop(0, kernel.columns);
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    for (stablehlo::ConcatenateOp op : joined)
      partRead[op] = begin / columnsOfPlace(op);
    if (isLess(begin, end))
      loop(begin, end);
    begin = end;
  }
  partRead.clear();
}

/// Emits the loops of a phase.
void KernelEmitter::emitColumns() {
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

  const auto part = [&](std::int64_t first, std::int64_t end) {
    loop(b.getInt64(first), b.getInt64(end),
         [&](llvm::PHINode* column, llvm::BasicBlock* before, llvm::BasicBlock*) {
           isInColumns = true;
           columnValues.clear();
           redefine(kColumn, column);
           for (Sums& sum : sums)
             for (llvm::Value* begun : sum.begun) {
               sum.running.push_back(b.CreatePHI(begun->getType(), 2));
               sum.running.back()->addIncoming(begun, before);
             }
           // A stored value may lie over a read one, so all reads come first.
           llvm::SmallVector<std::pair<mlir::Value, llvm::Value*>> stored;
           for (mlir::Value view : views)
             stored.emplace_back(view, element(view, place()));
           for (mlir::Value result : computed) {
             llvm::Value* value = element(result, place());
             stored.emplace_back(result, value);
             if (llvm::AllocaInst* buffer = kept.lookup(result))
               b.CreateStore(value, b.CreateInBoundsGEP(buffer->getAllocatedType(), buffer,
                                                        variable(kColumn)));
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
  };
  if (sums.empty())
    loopOverParts(part);
  else
    part(0, kernel.columns);
  columnValues.clear();
  for (Sums& sum : sums) {
    sum.results = sum.combination.joined(scalars, sum.results);
    finish(sum);
  }
}

/// Stores the results of a row.
void KernelEmitter::finish(const Sums& sums) {
  for (std::size_t i = 0; i < sums.results.size(); ++i) {
    const mlir::Value result = sums.op->getResult(static_cast<unsigned>(i));
    llvm::Value* value = sums.combination.leave(scalars, i, sums.results[i]);
    rowValues[result] = value;
    storeIfAsked(result, value, row());
  }
}

/// Whether the kernel is one loop over columns in which neighbours in memory belong to neighbouring
/// rows, and has enough rows. Without sums, accesses along rows must not outnumber
/// accesses across them.
bool KernelEmitter::readsAcrossRows() {
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
    // With sums, only values of rows may be stored.
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

/// How many of the elements that a reduction keeps are adjacent in its input.
static std::int64_t keptBehind(stablehlo::ReduceOp op) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getInputs().front());
  std::int64_t kept = 1;
  for (std::size_t axis = shape.size();
       axis-- > 0 && !llvm::is_contained(op.getDimensions(), static_cast<std::int64_t>(axis));)
    kept *= shape[axis];
  return kept;
}

/// Emits a few rows at a time, column by column. Adjacent elements are then read together, and a
/// cache line is used up before it is evicted.
void KernelEmitter::emitAcrossRows() {
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
  const auto range = [&](llvm::Value* begin, llvm::Value* end, llvm::Value* origin) {
    const auto placeOf = [&](llvm::Value* row) { return b.CreateNSWSub(row, origin); };
    if (!sums.empty())
      plainLoop(begin, end, [&](llvm::Value* row) {
        forSums(placeOf(row), [&](const Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
          stored(sum.first, places);
        });
      });
    const auto over = [&](llvm::Value* firstColumn, llvm::Value* endColumn) {
      plainLoop(firstColumn, endColumn, [&](llvm::Value* column) {
        plainLoop(begin, end, [&](llvm::Value* row) {
          enter(row, column);
          isInColumns = true;
          forSums(placeOf(row), [&](const Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
            stored(sum.combination.combine(scalars, loaded(sum, places), elementsOf(sum)), places);
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
    };
    if (sums.empty())
      loopOverRanges(b.getInt64(0), b.getInt64(kernel.columns), kRowsOfLine, over);
    else
      over(b.getInt64(0), b.getInt64(kernel.columns));
    if (!sums.empty())
      plainLoop(begin, end, [&](llvm::Value* row) {
        enter(row, b.getInt64(0));
        forSums(placeOf(row), [&](Sums& sum, llvm::ArrayRef<llvm::Value*> places) {
          sum.results = loaded(sum, places);
          finish(sum);
        });
        emitRowMembers(std::numeric_limits<int>::max());
      });
  };
  // Rows that are adjacent only in blocks, such as the features of an image that is summed, are
  // taken block by block. Their indices are divided once for each block, and read as vectors.
  std::int64_t beside = 0;
  for (const Sums& sum : sums)
    beside = std::gcd(beside, keptBehind(sum.op));
  rowsOfBlock = std::gcd(beside, kRowsOfSum);
  if (sums.empty() || beside == kernel.rows || rowsOfBlock < kRowsOfLine)
    return loopOverRanges(firstRow(), endRow(), rows,
                          [&](llvm::Value* begin, llvm::Value* end) { range(begin, end, begin); });
  llvm::Value* const size = b.getInt64(rowsOfBlock);
  block = define(nullptr, kernel.rows / rowsOfBlock);
  plainLoop(
      b.CreateUDiv(firstRow(), size),
      b.CreateUDiv(b.CreateNSWAdd(endRow(), b.getInt64(rowsOfBlock - 1)), size),
      [&](llvm::Value* number) {
        redefine(*block, number);
        llvm::Value* const first = b.CreateNSWMul(number, size);
        const auto within = [&](llvm::Value* row, llvm::Intrinsic::ID bound, std::int64_t limit) {
          return b.CreateBinaryIntrinsic(bound, b.CreateNSWSub(row, first), b.getInt64(limit));
        };
        range(within(firstRow(), llvm::Intrinsic::smax, 0),
              within(endRow(), llvm::Intrinsic::smin, rowsOfBlock), b.getInt64(0));
      });
}

/// Emits the values that exist once for each row, of the phases up to `upTo`.
void KernelEmitter::emitRowMembers(int upTo) {
  for (mlir::Operation* op : kernel.members)
    if (ofRows.contains(op) && phases.lookup(op) <= upTo && !rowValues.contains(op->getResult(0)))
      for (mlir::Value result : op->getResults())
        storeIfAsked(result, element(result, row()), row());
}

void KernelEmitter::emitRow() {
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

KernelCode KernelEmitter::emit() {
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

KernelCode emitKernel(const Kernel& kernel) { return KernelEmitter(kernel).emit(); }

std::optional<KernelCode> emitKernel(const Kernel& kernel, Overwriting& over) {
  while (!over.empty()) {
    KernelEmitter emitter(kernel, over);
    KernelCode code = emitter.emit();
    if (emitter.spoiled().empty())
      return code;
    over.remove_if([&](const auto& each) { return emitter.spoiled().contains(each.second); });
  }
  return std::nullopt;
}

} // namespace octavo::compiler
