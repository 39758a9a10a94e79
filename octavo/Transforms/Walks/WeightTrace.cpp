#include "octavo/Transforms/Walks/WeightTrace.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Walks/LoopInvariants.h"
#include "octavo/Transforms/Walks/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace octavo::transforms {

namespace {

/// Whether the result of a data movement is still a weight. A part chosen by indices must be a
/// matrix: one of a stack of layers or experts, or a range of columns. A row is a table lookup. A
/// matrix of a stack may have one row or one column.
bool keepsWeight(mlir::Operation* op) {
  llvm::ArrayRef<std::int64_t> part;
  if (auto slice = llvm::dyn_cast<stablehlo::DynamicSliceOp>(op))
    part = slice.getSliceSizes();
  else if (auto gather = llvm::dyn_cast<stablehlo::GatherOp>(op))
    part = gather.getSliceSizes();
  else
    return true;
  if (llvm::count_if(part, [](std::int64_t extent) { return extent > 1; }) > 1)
    return true;
  const auto whole = llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape();
  std::size_t behind = 0; // the first axis on which one of several indices is chosen
  while (behind < part.size() && (part[behind] != 1 || whole[behind] == 1))
    ++behind;
  return behind + 2 < part.size() && part.drop_front(behind + 1) == whole.drop_front(behind + 1);
}

/// The name of the constant's resource, or "constant".
std::string nameOf(stablehlo::ConstantOp constant) {
  auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(constant.getValue());
  return resource ? resource.getRawHandle().getKey().str() : "constant";
}

/// Whether float type `wide` holds every value of `narrow`.
bool holdsAll(mlir::Type wide, mlir::Type narrow) {
  const auto* to = elementFormat(wide);
  const auto* from = elementFormat(narrow);
  return to && from &&
         (to == from || (to->exponentBits >= from->exponentBits &&
                         to->trailingSignificandBits >= from->trailingSignificandBits));
}

} // namespace

bool losesNothing(stablehlo::ConvertOp convert) {
  return holdsAll(mlir::getElementTypeOrSelf(convert.getResult().getType()),
                  mlir::getElementTypeOrSelf(convert.getOperand().getType()));
}

/// Finds the root of a value, and the values that decide the root's origin.
void WeightTraces::expand(mlir::Value value) {
  auto visit = std::make_unique<Visit>();
  WeightTrace& trace = visit->trace;
  mlir::Value root = value;
  while (mlir::Operation* op = root.getDefiningOp()) {
    if (auto constant = llvm::dyn_cast<stablehlo::ConstantOp>(op)) {
      trace.origin = Origin::Constant;
      trace.name = nameOf(constant);
      break;
    }
    const mlir::Value from = keepsWeight(op) ? movedFrom(root) : mlir::Value();
    if (!from)
      break;
    trace.movement.push_back(op);
    root = from;
  }
  trace.root = root;
  trace.sources = {root};
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(root)) {
    mlir::Operation* owner = argument.getOwner()->getParentOp();
    const unsigned number = argument.getArgNumber();
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(owner);
    if (llvm::isa<sdy::ManualComputationOp, sdy::NamedComputationOp, stablehlo::WhileOp>(owner)) {
      visit->by.push_back(owner->getOperand(number));
    } else if (function && argument.getOwner()->isEntryBlock()) {
      const std::string name = ir::argumentName(function, number);
      if (isParameter(argument, name)) {
        trace.origin = Origin::Parameter;
        trace.name = name;
      } else {
        for (mlir::func::CallOp call : program.callsOf(function))
          visit->by.push_back(call.getOperand(number));
      }
    }
  } else if (auto loop = root.getDefiningOp<stablehlo::WhileOp>()) {
    visit->by.push_back(loop->getOperand(placeOfResult(root)));
  } else if (auto joined = root.getDefiningOp<stablehlo::ConcatenateOp>()) {
    visit->by.append(joined.getInputs().begin(), joined.getInputs().end());
  } else if (mlir::Value operand = handedThrough(root, keepsWeight, &program)) {
    visit->by.push_back(operand);
  }
  visits[value] = std::move(visit);
}

/// Completes a trace after the values that decide it. A recursive program gives no weight: the
/// origin of its values is not known.
void WeightTraces::finish(mlir::Value value) {
  Visit& visit = *visits.find(value)->second;
  visit.isKnown = true;
  if (visit.by.empty())
    return;
  WeightTrace& result = visit.trace;
  const mlir::Value root = result.root;
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(root);
  mlir::Operation* around = argument ? argument.getOwner()->getParentOp() : root.getDefiningOp();
  if (llvm::isa<mlir::func::FuncOp>(around))
    return finishCalls(result, visit.by);
  if (llvm::isa<stablehlo::ConcatenateOp>(around))
    return finishJoined(result, visit.by);
  // A parameter that a loop starts with stays a weight, though a training step changes it. A
  // constant that the loop changes, such as zeros, does not.
  if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around)) {
    const auto given = visits.find(visit.by.front());
    const unsigned place = argument ? argument.getArgNumber() : placeOfResult(root);
    if (given->second->trace.origin == Origin::Constant && !isUnchanged(loop, place, &program))
      return;
  }
  take(result, visit.by.front());
}

/// Takes over the origin of `from`, which the root of `result` equals.
void WeightTraces::take(WeightTrace& result, mlir::Value from) {
  const Visit& given = *visits.find(from)->second;
  if (!given.isKnown)
    return;
  result.origin = given.trace.origin;
  result.name = given.trace.origin == Origin::Computed ? "" : given.trace.name;
  result.sources = given.trace.sources;
}

/// A concatenation of weights is one weight; its name lists theirs.
void WeightTraces::finishJoined(WeightTrace& result, llvm::ArrayRef<mlir::Value> parts) {
  Origin origin = Origin::Constant;
  llvm::SetVector<llvm::StringRef> names;
  for (mlir::Value part : parts) {
    const Visit& given = *visits.find(part)->second;
    if (!given.isKnown || given.trace.origin == Origin::Computed)
      return;
    if (given.trace.origin == Origin::Parameter)
      origin = Origin::Parameter;
    names.insert(given.trace.name);
  }
  result.origin = origin;
  result.name = llvm::join(names, ", ");
}

void WeightTraces::finishCalls(WeightTrace& result, llvm::ArrayRef<mlir::Value> given) {
  take(result, given.front());
  llvm::DenseSet<mlir::Value> known(result.sources.begin(), result.sources.end());
  for (mlir::Value operand : given.drop_front()) {
    const Visit& other = *visits.find(operand)->second;
    if (!other.isKnown || other.trace.origin == Origin::Computed) {
      result.origin = Origin::Computed;
      result.name = "";
    }
    if (other.isKnown)
      for (mlir::Value source : other.trace.sources)
        if (known.insert(source).second)
          result.sources.push_back(source);
  }
}

const WeightTrace& WeightTraces::of(mlir::Value operand) {
  llvm::SmallVector<mlir::Value> pending = {operand};
  while (!pending.empty()) {
    const mlir::Value next = pending.back();
    const auto found = visits.find(next);
    if (found == visits.end()) {
      expand(next);
      for (mlir::Value each : visits.find(next)->second->by)
        if (!visits.contains(each))
          pending.push_back(each);
      continue;
    }
    pending.pop_back();
    if (!found->second->isKnown)
      finish(next);
  }
  return visits.find(operand)->second->trace;
}

std::optional<PermutedRoot> permutedRoot(const WeightTrace& trace, std::int64_t rank) {
  PermutedRoot permuted;
  permuted.axes = llvm::to_vector(llvm::seq<std::int64_t>(0, rank));
  for (mlir::Operation* op : trace.movement) {
    if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
      for (std::int64_t& axis : permuted.axes)
        axis = transpose.getPermutation()[axis];
      continue;
    }
    if (laysOut(op))
      continue;
    auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op);
    if (!convert || !losesNothing(convert))
      return std::nullopt;
  }
  return permuted;
}

} // namespace octavo::transforms
