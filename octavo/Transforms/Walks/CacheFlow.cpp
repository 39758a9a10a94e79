#include "octavo/Transforms/Walks/CacheFlow.h"

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>
#include <cmath>

namespace octavo::transforms {

namespace {

using mlir::func::FuncOp;

/// Whether a function, or a function that it calls, has an operation of one of these kinds.
template <typename... Kinds>
bool has(FuncOp function, llvm::SmallPtrSetImpl<mlir::Operation*>& seen) {
  if (!seen.insert(function).second)
    return false;
  return function
      ->walk([&](mlir::Operation* op) {
        FuncOp next = calledFunction(op);
        return llvm::isa<Kinds...>(op) || (next && has<Kinds...>(next, seen))
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

bool hasParts(FuncOp function) {
  llvm::SmallPtrSet<mlir::Operation*, 4> seen;
  return has<stablehlo::DynamicUpdateSliceOp, stablehlo::DynamicSliceOp>(function, seen);
}

/// Whether two shapes differ only in leading axes of extent 1.
bool areAlikeBehindOnes(llvm::ArrayRef<std::int64_t> a, llvm::ArrayRef<std::int64_t> b) {
  const std::size_t common = std::min(a.size(), b.size());
  const auto isOne = [](std::int64_t extent) { return extent == 1; };
  return a.take_back(common) == b.take_back(common) && llvm::all_of(a.drop_back(common), isOne) &&
         llvm::all_of(b.drop_back(common), isOne);
}

/// Whether the result is a slice of operand 0, with the operand's axes, counted from the last.
bool takesPart(mlir::Operation* op) {
  if (op->getNumResults() != 1 || !typeOf(op->getResult(0)) || !typeOf(op->getOperand(0)))
    return false;
  if (auto slice = llvm::dyn_cast<stablehlo::SliceOp>(op))
    return llvm::all_of(slice.getStrides(), [](std::int64_t stride) { return stride == 1; });
  const auto from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  if (auto broadcast = llvm::dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return llvm::is_sorted(broadcast.getBroadcastDimensions()) && areAlikeBehindOnes(from, to);
  return llvm::isa<stablehlo::DynamicSliceOp>(op) ||
         (llvm::isa<stablehlo::ReshapeOp>(op) && areAlikeBehindOnes(from, to));
}

bool isDot(mlir::Operation* op) {
  return llvm::isa<stablehlo::DotGeneralOp, stablehlo::DotOp, ir::DotGeneralOp>(op);
}

/// Whether an operation calls a function that has a dot.
bool callsForDot(mlir::Operation* op) {
  FuncOp function = calledFunction(op);
  llvm::SmallPtrSet<mlir::Operation*, 4> seen;
  return function &&
         has<stablehlo::DotGeneralOp, stablehlo::DotOp, ir::DotGeneralOp>(function, seen);
}

/// Whether an operation only moves values or selects among them. A call may do that.
bool moves(mlir::Operation* op) {
  return llvm::isa<stablehlo::ConcatenateOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                   stablehlo::DynamicSliceOp, stablehlo::SliceOp, stablehlo::TransposeOp,
                   stablehlo::ConvertOp, stablehlo::SelectOp, stablehlo::ReverseOp,
                   stablehlo::PadOp, stablehlo::GatherOp, stablehlo::IfOp, stablehlo::CaseOp>(op) ||
         calledFunction(op);
}

/// Computes the CacheFlow of an argument, calls not inlined.
class FlowOf {
public:
  explicit FlowOf(mlir::BlockArgument argument) : whole(argument) {
    flow.values.insert(argument);
    for (std::size_t i = 0; i < flow.values.size(); ++i)
      for (mlir::OpOperand& use : flow.values[i].getUses())
        follow(use);
  }

  CacheFlow take() {
    for (mlir::Operation* op : writes)
      (flow.values.contains(op->getOperand(1)) ? flow.moves : flow.entries).insert(op);
    for (auto [loop, place] : places)
      if (!flow.values.contains(loop.getBody().getArgument(place)) ||
          !flow.values.contains(loop.getBody().front().getTerminator()->getOperand(place)))
        flow.branchingLoop = loop;
    return std::move(flow);
  }

private:
  void follow(mlir::OpOperand& use) {
    mlir::Operation* op = use.getOwner();
    const unsigned place = use.getOperandNumber();
    const bool isWhole = use.get().getType() == whole.getType();
    auto around = llvm::dyn_cast<stablehlo::WhileOp>(op->getParentOp());
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op)) {
      if (hasLayers(use.get()))
        enter(loop, place);
    } else if (around && op == around.getBody().front().getTerminator()) {
      if (hasLayers(use.get()))
        places.emplace_back(around, place);
    } else if (llvm::isa<mlir::func::ReturnOp>(op)) {
      if (isWhole)
        flow.results.push_back(place);
    } else if (FuncOp function = calledFunction(op); function && hasParts(function)) {
      flow.call = op;
    } else if (llvm::isa<stablehlo::DynamicUpdateSliceOp>(op)) {
      if (place == 0)
        write(op);
      else if (place == 1)
        stack(op);
    } else if (place == 0 && llvm::isa<stablehlo::ScatterOp>(op)) {
      flow.scatter = op;
      flow.values.insert(op->getResult(0));
    } else if (llvm::isa<stablehlo::ConcatenateOp>(op)) {
      if (llvm::all_of(op->getOperands(), [&](mlir::Value each) {
            return flow.values.contains(each) || (typeOf(each) && elementCount(shapeOf(each)) == 0);
          })) {
        flow.moves.insert(op);
        flow.values.insert(op->getResult(0));
      }
    } else if (place == 0 && (takesPart(op) || movesLayers(op))) {
      flow.values.insert(op->getResult(0));
    }
  }

  /// Whether the trailing axes of a tensor are all axes of the cache but the first: it is then some
  /// layers of a stack, which may be grouped in rows.
  bool hasLayers(mlir::Value value) {
    const mlir::RankedTensorType type = typeOf(value), all = typeOf(whole);
    if (!type || !all || all.getRank() < 2)
      return value.getType() == whole.getType();
    const auto layer = all.getShape().drop_front();
    return type.getRank() >= all.getRank() - 1 && type.getShape().take_back(layer.size()) == layer;
  }

  bool movesLayers(mlir::Operation* op) {
    return llvm::isa<stablehlo::ReshapeOp>(op) && typeOf(whole) && typeOf(whole).getRank() > 1 &&
           hasLayers(op->getOperand(0)) && hasLayers(op->getResult(0));
  }

  void enter(stablehlo::WhileOp loop, unsigned place) {
    flow.values.insert(loop.getBody().getArgument(place));
    flow.values.insert(loop.getCond().getArgument(place));
    flow.values.insert(loop->getResult(place));
    places.emplace_back(loop, place);
  }

  void write(mlir::Operation* update) {
    writes.insert(update);
    flow.values.insert(update->getResult(0));
  }

  /// Follows a part that a loop writes into a carried tensor which starts as zeros.
  void stack(mlir::Operation* update) {
    const auto stack = llvm::dyn_cast<mlir::BlockArgument>(update->getOperand(0));
    auto loop = stack ? llvm::dyn_cast<stablehlo::WhileOp>(stack.getOwner()->getParentOp())
                      : stablehlo::WhileOp();
    if (!loop || !hasLayers(stack) || stack.getOwner() != &loop.getBody().front())
      return;
    const unsigned place = stack.getArgNumber();
    const std::optional<double> number = splatNumber(loop->getOperand(place));
    if (number == 0.0 && !std::signbit(*number) &&
        stack.getOwner()->getTerminator()->getOperand(place) == update->getResult(0))
      enter(loop, place);
  }

  const mlir::BlockArgument whole;
  CacheFlow flow;
  llvm::SetVector<mlir::Operation*> writes;
  llvm::SmallVector<std::pair<stablehlo::WhileOp, unsigned>> places;
};

/// The values that a use may flow into: results of its operation; if that is a terminator, the
/// result of the loop or branch that it ends; if it is a loop, its body argument and result.
llvm::SmallVector<mlir::Value> handedOn(mlir::OpOperand& use) {
  mlir::Operation* op = use.getOwner();
  llvm::SmallVector<mlir::Value> values(op->getResults());
  mlir::Operation* around = op->getParentOp();
  auto isIn = llvm::dyn_cast<stablehlo::WhileOp>(around);
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() &&
      use.getOperandNumber() < around->getNumResults() &&
      !(isIn && op->getParentRegion() == &isIn.getCond()))
    values.push_back(around->getResult(use.getOperandNumber()));
  if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
    values = {loop.getBody().getArgument(use.getOperandNumber()),
              loop->getResult(use.getOperandNumber())};
  return values;
}

/// Searches forward from the values of `flow`, through operations that `isOnTheWay`, for an append
/// (isToBeAppended) or a return of a value of type `whole`. Returns the first operation on the path
/// that is not in `flow`; null if there is no path.
mlir::Operation* firstInTheWay(const CacheFlow& flow, mlir::Type whole,
                               llvm::function_ref<bool(mlir::Operation*)> isOnTheWay,
                               bool isToBeAppended) {
  llvm::MapVector<mlir::Value, mlir::Operation*> reached; // with the first operation on its path
  for (mlir::Value value : flow.values)
    reached.insert({value, nullptr});
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto [value, first] = reached.begin()[i];
    for (mlir::OpOperand& use : value.getUses()) {
      mlir::Operation* op = use.getOwner();
      const bool isAppended =
          use.getOperandNumber() == 0 && llvm::isa<stablehlo::DynamicUpdateSliceOp>(op);
      const bool isReturned = llvm::isa<mlir::func::ReturnOp>(op);
      if (first != nullptr &&
          (isToBeAppended ? isAppended : isReturned && value.getType() == whole))
        return first;
      if (isReturned || (!isOnTheWay(op) && !isAppended && !llvm::isa<stablehlo::WhileOp>(op) &&
                         !op->hasTrait<mlir::OpTrait::IsTerminator>()))
        continue;
      mlir::Operation* way = op->hasTrait<mlir::OpTrait::IsTerminator>() ? op->getParentOp() : op;
      for (mlir::Value next : handedOn(use))
        reached.insert({next, first != nullptr ? first : way});
    }
  }
  return nullptr;
}

/// Whether the result has the type of an operand, as in arithmetic.
bool keepsType(mlir::Operation* op) {
  return op->getNumResults() == 1 &&
         llvm::is_contained(op->getOperandTypes(), op->getResult(0).getType());
}

} // namespace

mlir::Operation* CacheFlow::findReader(llvm::function_ref<bool(mlir::Operation*)> isFound) const {
  llvm::SetVector<mlir::Value> reached(values.begin(), values.end());
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (mlir::OpOperand& use : reached[i].getUses()) {
      if (isFound(use.getOwner()))
        return use.getOwner();
      reached.insert_range(handedOn(use));
    }
  return nullptr;
}

bool CacheFlow::isReadByDot() const { return findReader(isDot) != nullptr; }

CacheFlow cacheFlow(mlir::BlockArgument argument) {
  llvm::SmallPtrSet<mlir::Operation*, 4> closed; // calls that cannot be inlined
  for (;;) {
    CacheFlow flow = FlowOf(argument).take();
    if (flow.call == nullptr && !flow.entries.empty())
      flow.call = flow.findReader(
          [&](mlir::Operation* op) { return !closed.contains(op) && callsForDot(op); });
    if (flow.call == nullptr && (flow.entries.empty() || flow.results.empty())) {
      flow.inTheWay = firstInTheWay(flow, argument.getType(), moves, flow.entries.empty());
      if (flow.inTheWay != nullptr && calledFunction(flow.inTheWay) &&
          !closed.contains(flow.inTheWay))
        flow.call = flow.inTheWay;
    }
    if (flow.call == nullptr)
      return flow;
    if (!openCall(flow.call) && !closed.insert(flow.call).second)
      return flow;
  }
}

NearCache nearCache(mlir::BlockArgument argument) {
  const auto isOnTheWay = [](mlir::Operation* op) { return moves(op) || keepsType(op); };
  for (;;) {
    const CacheFlow flow = cacheFlow(argument);
    if (!flow.entries.empty() || !flow.isReadByDot())
      return {};
    NearCache near = {firstInTheWay(flow, argument.getType(), isOnTheWay, /*isToBeAppended=*/true),
                      true};
    if (near.op == nullptr)
      near = {firstInTheWay(flow, argument.getType(), moves, /*isToBeAppended=*/false), false};
    if (near.op == nullptr || !calledFunction(near.op) || !openCall(near.op))
      return near;
  }
}

std::optional<std::int64_t> axisOfPart(mlir::Value part, mlir::RankedTensorType cache,
                                       std::int64_t axis) {
  if (!typeOf(part))
    return std::nullopt;
  const std::int64_t own = axis - (cache.getRank() - typeOf(part).getRank());
  return own >= 0 ? std::optional(own) : std::nullopt;
}

} // namespace octavo::transforms
