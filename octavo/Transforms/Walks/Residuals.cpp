#include "octavo/Transforms/Walks/Residuals.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <utility>

namespace octavo::transforms {

namespace {

using mlir::func::CallOp;
using mlir::func::FuncOp;

/// The value that all parts of a concatenation come from, as in a convolution's patches; null if
/// they come from several.
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
  explicit OriginSearch(const ProgramCalls& program) : program(program) {}

  llvm::SmallVector<mlir::Value> of(mlir::Value value) {
    pending.push_back({value, nullptr});
    while (!pending.empty())
      follow(pending.pop_back_val());
    return llvm::SmallVector<mlir::Value>(found.begin(), found.end());
  }

private:
  /// A call whose callee is being searched, and the call around it.
  struct Within {
    CallOp call;
    const Within* around;
  };
  struct Place {
    mlir::Value value;
    const Within* within;
  };

  void follow(Place place) {
    // Recursive functions, and loops that rotate values, reach a value again.
    mlir::Operation* call = place.within == nullptr ? nullptr : CallOp(place.within->call);
    if (!seen.insert({place.value, call}).second)
      return;
    const mlir::Value value = unmoved(place.value);
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return followArgument(argument, place.within);
    const auto next = [&](mlir::Value from) { pending.push_back({from, place.within}); };
    mlir::Operation* op = value.getDefiningOp();
    const unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
    if (auto update = llvm::dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
      return next(update.getUpdate());
    if (auto joined = llvm::dyn_cast<stablehlo::ConcatenateOp>(op))
      if (const mlir::Value source = sourceOfPatches(joined))
        return next(source);
    if (auto pad = llvm::dyn_cast<stablehlo::PadOp>(op))
      return next(pad.getOperand());
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return next(loop.getBody().front().getTerminator()->getOperand(number));
    if (auto inner = llvm::dyn_cast<CallOp>(op))
      if (FuncOp function = program.called(inner);
          function && llvm::hasSingleElement(function.getBody())) {
        calls.push_back({inner, place.within});
        pending.push_back(
            {function.getBody().front().getTerminator()->getOperand(number), &calls.back()});
        return;
      }
    found.insert(value);
  }

  void followArgument(mlir::BlockArgument argument, const Within* within) {
    mlir::Operation* around = argument.getOwner()->getParentOp();
    const unsigned number = argument.getArgNumber();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around);
        loop && loop.getBody().front().getTerminator()->getOperand(number) == argument)
      return pending.push_back({loop->getOperand(number), within});
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return void(found.insert(argument));
    if (within != nullptr && program.called(CallOp(within->call)) == function)
      return pending.push_back({CallOp(within->call).getOperand(number), within->around});
    const llvm::ArrayRef<CallOp> callers = program.callsOf(function);
    if (callers.empty())
      found.insert(argument);
    for (CallOp call : llvm::reverse(callers)) // so that the first call is next
      pending.push_back({call.getOperand(number), within});
  }

  const ProgramCalls& program;
  std::deque<Within> calls;
  llvm::SmallVector<Place> pending;
  llvm::DenseSet<std::pair<mlir::Value, mlir::Operation*>> seen;
  llvm::SetVector<mlir::Value> found;
};

} // namespace

llvm::SmallVector<mlir::Value> computedAs(mlir::Value value, const ProgramCalls& program) {
  return OriginSearch(program).of(value);
}

} // namespace octavo::transforms
