#include "octavo/Transforms/Derivatives.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Transforms/FunctionCalls.h"
#include "octavo/Transforms/Movement.h"
#include "octavo/Transforms/SourceNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace octavo::transforms {

namespace {

using mlir::func::FuncOp;

/// JAX writes these around what differentiating in reverse made of the operations of a function,
/// and over what it computes there once more.
constexpr llvm::StringLiteral kDerivative = "transpose(", kRecomputed = "rematted_computation";

/// Nothing where the name says none.
std::optional<Pass> namedPass(llvm::StringRef name) {
  const std::size_t derivative = name.rfind(kDerivative), recomputed = name.rfind(kRecomputed);
  if (derivative != llvm::StringRef::npos &&
      (recomputed == llvm::StringRef::npos || recomputed < derivative))
    return Pass::Backward;
  return recomputed == llvm::StringRef::npos ? std::nullopt : std::optional(Pass::Recomputed);
}

class DerivativeSearch {
public:
  bool isDerivative(mlir::Value value) {
    value = unmoved(value);
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return visited.insert(value).second && isGiven(argument);
    if (mlir::Value operand = handedThrough(value, [](mlir::Operation*) { return true; }))
      return isDerivative(operand);
    return passOf(value.getDefiningOp()) == Pass::Backward;
  }

  Pass passOf(mlir::Operation* op) {
    if (const auto named = namedPass(sourceName(op->getLoc())))
      return *named;
    mlir::Operation* around = op->getParentOp();
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return llvm::isa<mlir::ModuleOp>(around) ? Pass::Forward : passOf(around);
    if (!functions.insert(function).second)
      return Pass::Forward;
    std::optional<Pass> common;
    for (mlir::func::CallOp call : callsOf(function)) {
      const Pass pass = passOf(call);
      if (common && pass != *common)
        return Pass::Forward;
      common = pass;
    }
    return common.value_or(Pass::Forward);
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

  llvm::DenseSet<mlir::Value> visited;
  llvm::DenseSet<mlir::Operation*> functions;
};

} // namespace

Pass passOf(mlir::Operation* op) { return DerivativeSearch().passOf(op); }

bool isDerivative(mlir::Value value) { return DerivativeSearch().isDerivative(value); }

} // namespace octavo::transforms
