#include "octavo/Transforms/WeightTrace.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/FunctionCalls.h"
#include "octavo/Transforms/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using IsParameter = std::function<bool(mlir::BlockArgument, llvm::StringRef)>;

/// Whether an operation only says how its operand lies on a mesh.
bool laysOut(mlir::Operation* op) {
  return llvm::isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op);
}

bool movesData(mlir::Operation* op) {
  return laysOut(op) ||
         llvm::isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                   stablehlo::SliceOp, stablehlo::ConvertOp>(op);
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
    WeightTrace result;
    while (mlir::Operation* op = value.getDefiningOp()) {
      if (auto constant = llvm::dyn_cast<stablehlo::ConstantOp>(op)) {
        result.origin = Origin::Constant;
        result.name = nameOf(constant);
        break;
      }
      if (!movesData(op))
        break;
      result.movement.push_back(op);
      value = op->getOperand(0);
    }
    result.root = result.source = value;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      traceArgument(argument, result);
    else if (auto loop = value.getDefiningOp<stablehlo::WhileOp>())
      traceLoop(loop, llvm::cast<mlir::OpResult>(value).getResultNumber(), result);
    return result;
  }

private:
  void traceArgument(mlir::BlockArgument argument, WeightTrace& result) {
    mlir::Operation* owner = argument.getOwner()->getParentOp();
    if (llvm::isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(owner))
      return take(result, trace(owner->getOperand(argument.getArgNumber())));
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(owner))
      return traceLoop(loop, argument.getArgNumber(), result);
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(owner);
    if (!function || !argument.getOwner()->isEntryBlock())
      return;
    const std::string name = argumentName(function, argument.getArgNumber());
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
    if (given.origin != Origin::Constant)
      take(result, given);
  }

  void traceCalls(mlir::func::FuncOp function, unsigned index, WeightTrace& result) {
    std::optional<WeightTrace> first;
    for (mlir::func::CallOp call : callsOf(function)) {
      const WeightTrace given = trace(call.getOperand(index));
      if (given.origin == Origin::Computed)
        return;
      if (!first)
        first = given;
    }
    if (first)
      take(result, *first);
  }

  /// The root of `result` is what `given` describes outside.
  static void take(WeightTrace& result, const WeightTrace& given) {
    result.origin = given.origin;
    result.name = given.name;
    result.source = given.source;
  }

  const IsParameter& isParameter;
  llvm::DenseSet<mlir::Value> visited;
};

/// Whether every value of one float type is one of another.
bool holdsAll(mlir::Type wide, mlir::Type narrow) {
  const auto* to = elementFormat(wide);
  const auto* from = elementFormat(narrow);
  return to && from &&
         (to == from || (to->exponentBits >= from->exponentBits &&
                         to->trailingSignificandBits >= from->trailingSignificandBits));
}

bool losesNothing(stablehlo::ConvertOp convert) {
  return holdsAll(mlir::getElementTypeOrSelf(convert.getResult().getType()),
                  mlir::getElementTypeOrSelf(convert.getOperand().getType()));
}

} // namespace

WeightTrace
traceWeight(mlir::Value operand,
            const std::function<bool(mlir::BlockArgument, llvm::StringRef)>& isParameter) {
  return Tracer(isParameter).trace(operand);
}

MovementSummary summarizeMovement(const WeightTrace& trace, std::int64_t rank) {
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
      return {std::nullopt, op};
  }
  return {permuted, nullptr};
}

} // namespace octavo::transforms
