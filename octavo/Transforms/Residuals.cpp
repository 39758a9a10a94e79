#include "octavo/Transforms/Residuals.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/FunctionCalls.h"
#include "octavo/Transforms/Movement.h"
#include "octavo/Transforms/OpenedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <utility>

namespace octavo::transforms {

namespace {

using mlir::func::CallOp;
using mlir::func::FuncOp;

/// What all parts are of that are joined, as those of a convolution's patches; null where they are
/// of several values.
mlir::Value sourceOfPatches(stablehlo::ConcatenateOp op) {
  mlir::Value common;
  for (mlir::Value part : op.getInputs()) {
    part = unmoved(part);
    if (common && part != common)
      return {};
    common = part;
  }
  return common;
}

class OriginSearch {
public:
  llvm::SmallVector<mlir::Value> of(mlir::Value value) {
    follow(value);
    return llvm::SmallVector<mlir::Value>(found.begin(), found.end());
  }

private:
  void follow(mlir::Value value) {
    // A function that calls itself, and a loop in circles, come here again.
    if (!seen.insert({value, calls.empty() ? nullptr : calls.back().getOperation()}).second)
      return;
    value = unmoved(value);
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return followArgument(argument);
    mlir::Operation* op = value.getDefiningOp();
    const unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
    if (auto update = llvm::dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
      return follow(update.getUpdate());
    if (auto joined = llvm::dyn_cast<stablehlo::ConcatenateOp>(op))
      if (const mlir::Value source = sourceOfPatches(joined))
        return follow(source);
    if (auto pad = llvm::dyn_cast<stablehlo::PadOp>(op))
      return follow(pad.getOperand());
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return follow(loop.getBody().front().getTerminator()->getOperand(number));
    if (auto call = llvm::dyn_cast<CallOp>(op))
      if (FuncOp function = calledFunction(call);
          function && llvm::hasSingleElement(function.getBody())) {
        calls.push_back(call);
        follow(function.getBody().front().getTerminator()->getOperand(number));
        calls.pop_back();
        return;
      }
    found.insert(value);
  }

  void followArgument(mlir::BlockArgument argument) {
    mlir::Operation* around = argument.getOwner()->getParentOp();
    const unsigned number = argument.getArgNumber();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around);
        loop && loop.getBody().front().getTerminator()->getOperand(number) == argument)
      return follow(loop->getOperand(number));
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return void(found.insert(argument));
    if (!calls.empty() && calledFunction(calls.back()) == function) {
      CallOp call = calls.pop_back_val();
      follow(call.getOperand(number));
      calls.push_back(call);
      return;
    }
    const auto callers = callsOf(function);
    if (callers.empty())
      found.insert(argument);
    for (CallOp call : callers)
      follow(call.getOperand(number));
  }

  llvm::SmallVector<CallOp> calls; ///< within which it looks, from the outermost on
  llvm::DenseSet<std::pair<mlir::Value, mlir::Operation*>> seen;
  llvm::SetVector<mlir::Value> found;
};

} // namespace

llvm::SmallVector<mlir::Value> computedAs(mlir::Value value) { return OriginSearch().of(value); }

} // namespace octavo::transforms
