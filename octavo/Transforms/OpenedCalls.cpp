#include "octavo/Transforms/OpenedCalls.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Dialect/WrappedCall.h"
#include "octavo/Transforms/Movement.h"
#include "octavo/Transforms/ScaledOrigin.h"
#include "octavo/Transforms/TensorFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::transforms {

using mlir::func::FuncOp;

FuncOp calledFunction(mlir::Operation* op) {
  mlir::FlatSymbolRefAttr name;
  if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
    name = call.getCalleeAttr();
  auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op);
  if (composite && composite.getName() != "xla.scaled_dot")
    name = composite.getDecompositionAttr();
  auto function = name ? mlir::SymbolTable::lookupNearestSymbolFrom<FuncOp>(op, name) : FuncOp();
  return function && !function.isExternal() ? function : FuncOp();
}

namespace {

bool reaches(FuncOp from, FuncOp to, llvm::SetVector<mlir::Operation*>& seen) {
  return from
      .walk([&](mlir::Operation* op) {
        FuncOp next = calledFunction(op);
        const bool isThere = next && (next == to || (seen.insert(next) && reaches(next, to, seen)));
        return isThere ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// The wrapper keeps the names that a function has which is gone then.
void keepNames(mlir::Operation* call) {
  auto caller = llvm::dyn_cast<FuncOp>(call->getParentOp());
  if (caller && wrappedCall(caller) == call)
    for (unsigned i = 0; i < caller.getNumArguments(); ++i)
      caller.getArgument(i).setLoc(locationOfArgument(caller, i));
}

void open(mlir::Operation* call) {
  keepNames(call);
  mlir::Block& body = calledFunction(call).getBody().front();
  mlir::OpBuilder builder(call);
  mlir::IRMapping values;
  values.map(body.getArguments(), call->getOperands());
  for (mlir::Operation& op : body.without_terminator())
    builder.clone(op, values)->walk([&](mlir::Operation* copy) {
      copy->setLoc(mlir::CallSiteLoc::get(copy->getLoc(), call->getLoc()));
    });
  for (auto [result, returned] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(returned));
  call->erase();
}

void eraseIfUnused(FuncOp function) {
  if (function.isPrivate() &&
      mlir::SymbolTable::symbolKnownUseEmpty(function.getOperation(),
                                             function->getParentOfType<mlir::ModuleOp>()))
    function.erase();
}

/// What narrow values are multiplied or divided by, and what that is computed from.
llvm::SetVector<mlir::Value> factors(mlir::ModuleOp module, ScaledOrigins& origins) {
  llvm::SetVector<mlir::Value> found;
  module.walk([&](mlir::Operation* op) {
    if (!llvm::isa<stablehlo::MulOp, stablehlo::DivOp>(op))
      return;
    for (unsigned i = 0; i < 2; ++i)
      if (origins.comesFromNarrow(op->getOperand(1 - i)) &&
          !origins.comesFromNarrow(op->getOperand(i)))
        found.insert(op->getOperand(i));
  });
  for (std::size_t i = 0; i < found.size(); ++i)
    if (mlir::Operation* op = found[i].getDefiningOp();
        op != nullptr && op->getNumRegions() == 0 &&
        !llvm::isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
      found.insert(op->operand_begin(), op->operand_end());
  return found;
}

/// Whether a value, or a comparison that it is of, comes from narrow values, or from their scales.
bool follows(mlir::Value value, ScaledOrigins& origins) {
  mlir::Operation* op = value.getDefiningOp();
  return (!isCodes(value) && origins.comesFromNarrowOrScales(value)) ||
         (mlir::getElementTypeOrSelf(value.getType()).isInteger(1) && op != nullptr &&
          isComputedPerElement(op) && llvm::any_of(op->getOperands(), [&](mlir::Value operand) {
            return follows(operand, origins);
          }));
}

} // namespace

bool openCall(mlir::Operation* call) {
  FuncOp function = calledFunction(call);
  llvm::SetVector<mlir::Operation*> seen;
  if (!function || reaches(function, function, seen))
    return false;
  open(call);
  eraseIfUnused(function);
  return true;
}

void openWrappers(mlir::ModuleOp module) {
  llvm::SmallVector<FuncOp> functions(module.getOps<FuncOp>());
  llvm::erase_if(functions, [](FuncOp function) { return !function.isPublic(); });
  for (FuncOp function : functions)
    while (mlir::func::CallOp call = wrappedCall(function))
      if (!openCall(call))
        break;
}

void openMovement(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::func::CallOp> calls;
  module.walk([&](mlir::func::CallOp call) {
    FuncOp function = calledFunction(call);
    if (function && function.isPrivate() && call.getNumResults() == 1 &&
        handedThrough(call.getResult(0), [](mlir::Operation*) { return true; }) &&
        !function
             .walk([](mlir::Operation* op) {
               const bool isMore =
                   llvm::isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, mlir::func::CallOp>(
                       op) ||
                   (op->getNumRegions() != 0 && !llvm::isa<FuncOp>(op));
               return isMore ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
             })
             .wasInterrupted())
      calls.push_back(call);
  });
  for (mlir::func::CallOp call : calls)
    openCall(call);
}

void openCalls(mlir::ModuleOp module) {
  for (bool isDone = false; !isDone;) {
    ScaledOrigins origins;
    const llvm::SetVector<mlir::Value> scales = factors(module, origins);
    const auto isOfScales = [&](mlir::Value value) {
      return scales.contains(value) || (openTypeOf(value) && follows(value, origins));
    };
    llvm::SmallVector<mlir::Operation*> calls;
    module.walk([&](mlir::Operation* op) {
      FuncOp function = calledFunction(op);
      llvm::SetVector<mlir::Operation*> seen;
      if (function && !reaches(function, function, seen) &&
          (hasNarrowFloats(function) || llvm::any_of(op->getOperands(), isOfScales) ||
           llvm::any_of(op->getResults(), isOfScales)))
        calls.push_back(op);
    });
    isDone = calls.empty();
    llvm::SetVector<mlir::Operation*> opened;
    for (mlir::Operation* call : calls) {
      opened.insert(calledFunction(call));
      open(call);
    }
    for (mlir::Operation* function : opened)
      eraseIfUnused(llvm::cast<FuncOp>(function));
  }
}

void inlineCalls(mlir::ModuleOp module) {
  const Diagnostics unheard(*module.getContext());
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createInlinerPass({}, [](mlir::OpPassManager&) {})); // and nothing else
  static_cast<void>(passes.run(module));
}

} // namespace octavo::transforms
