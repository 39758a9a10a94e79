#include "octavo/Transforms/WeightTrace.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/CarriedUnchanged.h"
#include "octavo/Transforms/FunctionCalls.h"
#include "octavo/Transforms/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace octavo::transforms {

namespace {

using IsParameter = std::function<bool(mlir::BlockArgument, llvm::StringRef)>;

/// Whether an operation that moves values gives a part of a weight that is still one: what indices
/// choose is a matrix, one of a stack of layers or experts or a range of its columns, and no row,
/// which is what a table is looked up for. A matrix of a stack may have one row or one column.
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
  std::size_t behind = 0; // the first axis of which one place of several is chosen
  while (behind < part.size() && (part[behind] != 1 || whole[behind] == 1))
    ++behind;
  return behind + 2 < part.size() && part.drop_front(behind + 1) == whole.drop_front(behind + 1);
}

/// The name of the resource that holds the values; "constant" where they have none.
std::string nameOf(stablehlo::ConstantOp constant) {
  auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(constant.getValue());
  return resource ? resource.getRawHandle().getKey().str() : "constant";
}

class Tracer {
public:
  explicit Tracer(const IsParameter& isParameter) : isParameter(isParameter) {}

  WeightTrace trace(mlir::Value value) {
    if (const auto found = known.find(value); found != known.end())
      return found->second;
    WeightTrace result = traced(value);
    known.insert({value, result});
    return result;
  }

private:
  WeightTrace traced(mlir::Value value) {
    WeightTrace result;
    while (mlir::Operation* op = value.getDefiningOp()) {
      if (auto constant = llvm::dyn_cast<stablehlo::ConstantOp>(op)) {
        result.origin = Origin::Constant;
        result.name = nameOf(constant);
        break;
      }
      const mlir::Value from = keepsWeight(op) ? movedFrom(value) : mlir::Value();
      if (!from)
        break;
      result.movement.push_back(op);
      value = from;
    }
    result.root = value;
    result.sources = {value};
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      traceArgument(argument, result);
    else if (auto loop = value.getDefiningOp<stablehlo::WhileOp>())
      traceLoop(loop, llvm::cast<mlir::OpResult>(value).getResultNumber(), result);
    else if (auto joined = value.getDefiningOp<stablehlo::ConcatenateOp>())
      traceJoined(joined, result);
    else if (mlir::Value operand = handedThrough(value, keepsWeight))
      take(result, trace(operand));
    return result;
  }

  void traceArgument(mlir::BlockArgument argument, WeightTrace& result) {
    mlir::Operation* owner = argument.getOwner()->getParentOp();
    if (llvm::isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(owner))
      return take(result, trace(owner->getOperand(argument.getArgNumber())));
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(owner))
      return traceLoop(loop, argument.getArgNumber(), result);
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(owner);
    if (!function || !argument.getOwner()->isEntryBlock())
      return;
    const std::string name = ir::argumentName(function, argument.getArgNumber());
    if (isParameter(argument, name)) {
      result.origin = Origin::Parameter;
      result.name = name;
      return;
    }
    // A program that calls itself around in a circle gives no weight.
    if (!visited.insert(argument).second)
      return;
    traceCalls(function, argument.getArgNumber(), result);
    visited.erase(argument);
  }

  /// A parameter that a loop is given stays one, though a training step changes it; zeros do not.
  void traceLoop(stablehlo::WhileOp loop, unsigned index, WeightTrace& result) {
    const WeightTrace given = trace(loop->getOperand(index));
    if (given.origin != Origin::Constant || isUnchanged(loop, index))
      take(result, given);
  }

  /// Weights side by side are one, of all their names.
  void traceJoined(stablehlo::ConcatenateOp joined, WeightTrace& result) {
    Origin origin = Origin::Constant;
    llvm::SmallVector<std::string> names;
    for (mlir::Value part : joined.getInputs()) {
      const WeightTrace given = trace(part);
      if (given.origin == Origin::Computed)
        return;
      if (given.origin == Origin::Parameter)
        origin = Origin::Parameter;
      if (!llvm::is_contained(names, given.name))
        names.push_back(given.name);
    }
    result.origin = origin;
    result.name = llvm::join(names, ", ");
  }

  void traceCalls(mlir::func::FuncOp function, unsigned index, WeightTrace& result) {
    std::optional<WeightTrace> common;
    for (mlir::func::CallOp call : callsOf(function)) {
      const WeightTrace given = trace(call.getOperand(index));
      if (!common) {
        common = given;
        continue;
      }
      if (given.origin == Origin::Computed)
        common->origin = Origin::Computed;
      for (mlir::Value source : given.sources)
        if (!llvm::is_contained(common->sources, source))
          common->sources.push_back(source);
    }
    if (common)
      take(result, *common);
  }

  /// The root of `result` is what `given` describes outside.
  static void take(WeightTrace& result, const WeightTrace& given) {
    result.origin = given.origin;
    result.name = given.origin == Origin::Computed ? "" : given.name;
    result.sources = given.sources;
  }

  const IsParameter& isParameter;
  llvm::DenseSet<mlir::Value> visited;
  llvm::DenseMap<mlir::Value, WeightTrace> known; ///< a value joined with itself is traced once
};

/// Whether every value of one float type is one of another.
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

WeightTrace
traceWeight(mlir::Value operand,
            const std::function<bool(mlir::BlockArgument, llvm::StringRef)>& isParameter) {
  return Tracer(isParameter).trace(operand);
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
