#include "octavo/Transforms/Walks/Inlining.h"

#include "octavo/Dialect/NestedCalls.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Dialect/WrappedCall.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>

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

/// The call that a function wraps, if it is the only use of its callee; else null.
mlir::func::CallOp wrappedCall(FuncOp function, const ProgramCalls& program) {
  mlir::func::CallOp call = callAtEnd(function);
  FuncOp callee = call ? program.called(call) : FuncOp();
  return callee && program.callsOf(callee).size() == 1 ? call : mlir::func::CallOp();
}

/// Gives unnamed arguments of the wrapper the names of the callee's, which inlining erases.
void keepNames(FuncOp caller, mlir::func::CallOp call, FuncOp callee) {
  llvm::DenseMap<mlir::Value, mlir::Location> taken;
  for (auto [operand, argument] : llvm::zip_equal(call.getOperands(), callee.getArguments()))
    taken.try_emplace(operand, argument.getLoc());
  for (mlir::BlockArgument argument : caller.getArguments())
    if (const auto found = taken.find(argument);
        found != taken.end() && llvm::isa<mlir::UnknownLoc>(argument.getLoc()))
      argument.setLoc(found->second);
}

/// The result of inlining a call: the number of operations, and the calls among them.
struct Opened {
  std::size_t operations = 0;
  llvm::SmallVector<mlir::Operation*> calls;
};

/// The location of `copy`, which is inlined at `call`. It names kMostNamedCalls calls at most.
mlir::Location locationAt(mlir::Location copy, mlir::Location call) {
  int named = 0;
  for (auto site = llvm::dyn_cast<mlir::CallSiteLoc>(copy); site;
       site = llvm::dyn_cast<mlir::CallSiteLoc>(site.getCallee()))
    if (++named == kMostNamedCalls)
      return copy;
  named = 0;
  for (auto site = llvm::dyn_cast<mlir::CallSiteLoc>(call); site;
       site = llvm::dyn_cast<mlir::CallSiteLoc>(site.getCaller()))
    if (++named == kMostNamedCalls)
      return mlir::CallSiteLoc::get(copy, llvm::cast<mlir::CallSiteLoc>(call).getCallee());
  return mlir::CallSiteLoc::get(copy, call);
}

Opened open(mlir::Operation* call, FuncOp function) {
  mlir::Block& body = function.getBody().front();
  mlir::OpBuilder builder(call);
  mlir::IRMapping values;
  values.map(body.getArguments(), call->getOperands());
  Opened opened;
  for (mlir::Operation& op : body.without_terminator())
    builder.clone(op, values)->walk([&](mlir::Operation* copy) {
      ++opened.operations;
      copy->setLoc(locationAt(copy->getLoc(), call->getLoc()));
      if (llvm::isa<mlir::func::CallOp, stablehlo::CompositeOp>(copy))
        opened.calls.push_back(copy);
    });
  for (auto [result, returned] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(returned));
  call->erase();
  return opened;
}

/// Inlines a call; if its function wraps the callee, keeps the callee's argument names.
Opened openKeepingNames(mlir::Operation* op, FuncOp function, const ProgramCalls& program) {
  auto call = llvm::dyn_cast<mlir::func::CallOp>(op);
  auto caller = llvm::dyn_cast<FuncOp>(op->getParentOp());
  if (call && caller && wrappedCall(caller, program) == call)
    keepNames(caller, call, function);
  return open(op, function);
}

/// The values that narrow values are multiplied or divided by, and the values that these are
/// computed from.
llvm::SetVector<mlir::Value> factors(mlir::ModuleOp module, DequantizationTraces& origins) {
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

/// Whether a value comes from narrow values or their scales. A boolean also does if the operands of
/// the comparisons that it is computed from do.
class Followers {
public:
  explicit Followers(DequantizationTraces& origins) : origins(origins) {}

  bool contains(mlir::Value value) {
    llvm::SetVector<mlir::Value> asked;
    asked.insert(value);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!isCodes(asked[i]) && origins.comesFromNarrowOrScales(asked[i]))
        return true;
      mlir::Operation* op = asked[i].getDefiningOp();
      if (mlir::getElementTypeOrSelf(asked[i].getType()).isInteger(1) && op != nullptr &&
          isComputedPerElement(op))
        for (mlir::Value operand : op->getOperands())
          if (!others.contains(operand))
            asked.insert(operand);
    }
    others.insert_range(asked); // none of them follows
    return false;
  }

private:
  DequantizationTraces& origins;
  llvm::DenseSet<mlir::Value> others;
};

/// Functions with narrow floats among their values or, through calls that can be inlined, among
/// those of their callees.
llvm::DenseSet<mlir::Operation*> narrowFunctions(const ProgramCalls& program) {
  llvm::DenseSet<mlir::Operation*> narrow;
  for (FuncOp function : program.calleesFirst()) {
    const bool isNarrow =
        hasNarrowFloats(function) ||
        function
            .walk([&](mlir::Operation* op) {
              FuncOp callee = program.called(op);
              return callee && narrow.contains(callee) && !program.reachesItself(callee)
                         ? mlir::WalkResult::interrupt()
                         : mlir::WalkResult::advance();
            })
            .wasInterrupted();
    if (isNarrow)
      narrow.insert(function);
  }
  return narrow;
}

/// The most operations that inlining may create: a few small functions that each call the next one
/// twice would make exponentially many.
constexpr std::size_t kMostOpened = 400'000;

} // namespace

bool openCall(mlir::Operation* call) {
  FuncOp function = calledFunction(call);
  auto module = call->getParentOfType<mlir::ModuleOp>();
  const ProgramCalls program(module);
  if (!function || program.reachesItself(function))
    return false;
  openKeepingNames(call, function, program);
  eraseUnnamed(module, function);
  return true;
}

void openWrappers(mlir::ModuleOp module) {
  llvm::SmallVector<FuncOp> functions(module.getOps<FuncOp>());
  llvm::erase_if(functions, [](FuncOp function) { return !function.isPublic(); });
  const ProgramCalls program(module);
  for (FuncOp function : functions)
    while (mlir::func::CallOp call = wrappedCall(function, program)) {
      FuncOp callee = program.called(call);
      if (program.reachesItself(callee))
        break;
      keepNames(function, call, callee);
      open(call, callee);
      callee.erase(); // nothing else names it
    }
}

/// Whether a function has products, calls, or operations with regions.
static bool isMoreThanMovement(FuncOp function) {
  return function
      .walk([](mlir::Operation* op) {
        const bool isMore =
            llvm::isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, mlir::func::CallOp>(op) ||
            (op->getNumRegions() != 0 && !llvm::isa<FuncOp>(op));
        return isMore ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

void openMovement(mlir::ModuleOp module) {
  const ProgramCalls program(module);
  llvm::DenseMap<mlir::Operation*, bool> moving;
  const auto onlyMoves = [&](FuncOp function) {
    const auto [found, isNew] = moving.try_emplace(function, false);
    if (isNew)
      found->second = !isMoreThanMovement(function);
    return found->second;
  };
  llvm::SmallVector<mlir::func::CallOp> calls;
  llvm::SmallVector<FuncOp> opened;
  module.walk([&](mlir::func::CallOp call) {
    FuncOp function = program.called(call);
    if (function && function.isPrivate() && call.getNumResults() == 1 &&
        !program.reachesItself(function) && onlyMoves(function) &&
        handedThrough(call.getResult(0), [](mlir::Operation*) { return true; }, &program))
      calls.push_back(call);
  });
  for (mlir::func::CallOp call : calls) {
    opened.push_back(program.called(call));
    openKeepingNames(call, opened.back(), program);
  }
  eraseUnnamed(module, opened);
}

void openCalls(mlir::ModuleOp module) {
  std::size_t count = 0; // number of operations inlined
  for (bool isDone = false; !isDone;) {
    DequantizationTraces origins;
    const llvm::SetVector<mlir::Value> scales = factors(module, origins);
    Followers followers(origins);
    const ProgramCalls program(module);
    const llvm::DenseSet<mlir::Operation*> narrow = narrowFunctions(program);
    const auto isOfScales = [&](mlir::Value value) {
      return scales.contains(value) || (openTypeOf(value) && followers.contains(value));
    };
    // Calls in private functions come last, if those functions still have callers then.
    llvm::SmallVector<mlir::Operation*> calls, ofPrivate;
    module.walk([&](mlir::Operation* op) {
      FuncOp function = program.called(op);
      if (!function || program.reachesItself(function) ||
          (!narrow.contains(function) && !llvm::any_of(op->getOperands(), isOfScales) &&
           !llvm::any_of(op->getResults(), isOfScales)))
        return;
      auto around = op->getParentOfType<FuncOp>();
      (around && around.isPrivate() ? ofPrivate : calls).push_back(op);
    });
    if (calls.empty())
      calls = std::move(ofPrivate);
    isDone = calls.empty() || count > kMostOpened;
    std::reverse(calls.begin(), calls.end());
    llvm::SetVector<mlir::Operation*> opened;
    while (!calls.empty() && count <= kMostOpened) {
      mlir::Operation* call = calls.pop_back_val();
      FuncOp function = program.called(call);
      const Opened made = openKeepingNames(call, function, program);
      count += made.operations;
      opened.insert(function);
      // Callees with narrow floats are inlined in the same pass, however deep calls nest.
      for (mlir::Operation* inner : llvm::reverse(made.calls))
        if (FuncOp callee = program.called(inner);
            callee && narrow.contains(callee) && !program.reachesItself(callee))
          calls.push_back(inner);
    }
    eraseUnnamed(module, llvm::map_to_vector(opened, [](mlir::Operation* function) {
                   return llvm::cast<FuncOp>(function);
                 }));
  }
}

/// Whether inlining all calls would reach kMostOpened operations.
static bool isEndless(mlir::ModuleOp module) {
  const ProgramCalls program(module);
  llvm::DenseMap<mlir::Operation*, std::size_t> sizes;
  std::size_t total = 0;
  for (FuncOp function : program.calleesFirst()) {
    std::size_t size = 0;
    function.walk([&](mlir::Operation* op) {
      FuncOp callee = program.called(op);
      size = std::min(size + 1 + (callee ? sizes.lookup(callee) : 0), kMostOpened);
    });
    sizes[function] = size;
    total += function.isPrivate() ? 0 : size;
  }
  return total >= kMostOpened;
}

void inlineCalls(mlir::ModuleOp module) {
  if (isEndless(module))
    return;
  // Top-down, so that each operation is copied once, however deep calls nest. MLIR's inliner works
  // bottom-up and copies its copies again.
  const ProgramCalls program(module);
  llvm::SetVector<mlir::Operation*> opened;
  for (FuncOp root : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
    if (root.isPrivate() && !program.callsOf(root).empty())
      continue;
    llvm::SmallVector<mlir::Operation*> calls;
    root.walk([&](mlir::func::CallOp call) { calls.push_back(call); });
    std::reverse(calls.begin(), calls.end());
    while (!calls.empty()) {
      mlir::Operation* call = calls.pop_back_val();
      FuncOp function = llvm::isa<mlir::func::CallOp>(call) ? program.called(call) : FuncOp();
      if (!function || program.reachesItself(function) || !function.getBody().hasOneBlock())
        continue;
      const Opened made = open(call, function);
      opened.insert(function);
      calls.append(made.calls.rbegin(), made.calls.rend());
    }
  }
  eraseUnnamed(module, llvm::map_to_vector(opened, [](mlir::Operation* function) {
                 return llvm::cast<FuncOp>(function);
               }));
}

} // namespace octavo::transforms
