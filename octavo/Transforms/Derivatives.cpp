#include "octavo/Transforms/Derivatives.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/FunctionCalls.h"
#include "octavo/Transforms/OpenedCalls.h"
#include "octavo/Transforms/SourceNames.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using mlir::func::FuncOp;

/// JAX writes it around what differentiating in reverse made of the operations of a function.
constexpr llvm::StringLiteral kDerivative = "transpose(";

/// The value that is moved about.
mlir::Value unmoved(mlir::Value value) {
  while (mlir::Operation* op = value.getDefiningOp()) {
    if (!llvm::isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                   stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::ConvertOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The operand of a call that a result is, moved about; null where the function computes it.
mlir::Value passedOn(mlir::func::CallOp call, mlir::OpResult result) {
  FuncOp function = calledFunction(call);
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return {};
  mlir::Block& body = function.getBody().front();
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(
      unmoved(body.getTerminator()->getOperand(result.getResultNumber())));
  return argument && argument.getOwner() == &body ? call.getOperand(argument.getArgNumber())
                                                  : mlir::Value();
}

class Search {
public:
  bool isDerivative(mlir::Value value) {
    value = unmoved(value);
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return visited.insert(value).second && isGiven(argument);
    mlir::Operation* op = value.getDefiningOp();
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
      if (mlir::Value operand = passedOn(call, llvm::cast<mlir::OpResult>(value)))
        return isDerivative(operand);
    return isWithin(op);
  }

private:
  /// Whether a loop or a function is given a gradient.
  bool isGiven(mlir::BlockArgument argument) {
    const unsigned number = argument.getArgNumber();
    mlir::Operation* around = argument.getOwner()->getParentOp();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around))
      return isDerivative(loop->getOperand(number)) ||
             isDerivative(loop.getBody().front().getTerminator()->getOperand(number));
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return false;
    const auto calls = callsOf(function);
    return !calls.empty() && llvm::all_of(calls, [&](mlir::func::CallOp call) {
      return isDerivative(call.getOperand(number));
    });
  }

  bool isWithin(mlir::Operation* op) {
    if (llvm::StringRef(sourceName(op->getLoc())).contains(kDerivative))
      return true;
    mlir::Operation* around = op->getParentOp();
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return !llvm::isa<mlir::ModuleOp>(around) && isWithin(around);
    if (!functions.insert(function).second)
      return false;
    const auto calls = callsOf(function);
    return !calls.empty() &&
           llvm::all_of(calls, [&](mlir::func::CallOp call) { return isWithin(call); });
  }

  llvm::DenseSet<mlir::Value> visited;
  llvm::DenseSet<mlir::Operation*> functions;
};

} // namespace

bool isDerivative(mlir::Value value) { return Search().isDerivative(value); }

} // namespace octavo::transforms
