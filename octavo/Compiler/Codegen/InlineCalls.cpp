#include "octavo/Compiler/Codegen/InlineCalls.h"

#include "octavo/Dialect/CalledFunction.h"
#include "octavo/Dialect/NestedCalls.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <vector>

namespace octavo::compiler {

namespace {

/// Functions of fewer operations are inlined, unless the program is still too large then.
constexpr std::uint64_t kManyOperations = 1024;

struct Function {
  mlir::func::FuncOp op;
  std::uint64_t own = 0;               ///< operations in it
  std::uint64_t size = 0;              ///< with the operations inlined in it
  std::vector<std::size_t> calls = {}; ///< the callee of each call
  std::size_t callers = 0;             ///< number of calls to it
  bool canBeCalled = false;
  bool isInBody = false;    ///< called in a body that kernels compute element by element
  bool hasProducts = false; ///< its own, or of callees
  bool isKept = false;
};

/// Whether calls of the function can be compiled: arguments and results are tensors of static
/// shapes.
bool canBeCalled(mlir::func::FuncOp function) {
  const auto isTensor = [](mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return !function.isExternal() && llvm::hasSingleElement(function.getBody()) &&
         llvm::all_of(function.getArgumentTypes(), isTensor) &&
         llvm::all_of(function.getResultTypes(), isTensor);
}

/// Whether an operation is in a body that kernels compute element by element, such as a
/// reduction's.
bool isInBodyOfKernel(mlir::Operation* op) {
  for (op = op->getParentOp(); !llvm::isa<mlir::func::FuncOp>(op); op = op->getParentOp())
    if (!llvm::isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      return true;
  return false;
}

bool isProduct(mlir::Operation* op) {
  return llvm::isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp>(op) ||
         llvm::isa_and_present<ir::OctavoDialect>(op->getDialect());
}

class Calls {
public:
  explicit Calls(mlir::ModuleOp module) {
    llvm::DenseMap<llvm::StringRef, std::size_t> numbers;
    for (auto op : module.getOps<mlir::func::FuncOp>()) {
      numbers[op.getSymName()] = functions.size();
      functions.push_back({.op = op, .canBeCalled = canBeCalled(op)});
    }
    for (Function& each : functions)
      each.op.walk([&](mlir::Operation* op) {
        ++each.own;
        each.hasProducts |= isProduct(op);
        auto call = llvm::dyn_cast<mlir::func::CallOp>(op);
        const auto callee = call ? numbers.find(call.getCallee()) : numbers.end();
        if (callee == numbers.end())
          return;
        each.calls.push_back(callee->second);
        ++functions[callee->second].callers;
        functions[callee->second].isInBody |= isInBodyOfKernel(call);
      });
  }

  /// Orders callees before their callers. Returns false if a function calls itself.
  bool sort() {
    enum class State : std::uint8_t { New, Open, Done };
    std::vector<State> states(functions.size(), State::New);
    std::vector<std::pair<std::size_t, std::size_t>> open; // function, calls visited
    for (std::size_t first = 0; first < functions.size(); ++first) {
      if (states[first] == State::New)
        open.emplace_back(first, 0);
      while (!open.empty()) {
        auto& [number, next] = open.back();
        states[number] = State::Open;
        if (next == functions[number].calls.size()) {
          states[number] = State::Done;
          order.push_back(number);
          open.pop_back();
          continue;
        }
        const std::size_t callee = functions[number].calls[next++];
        if (states[callee] == State::Open)
          return false;
        if (states[callee] == State::New)
          open.emplace_back(callee, 0);
      }
    }
    for (const std::size_t number : llvm::reverse(order))
      if (functions[number].isInBody)
        for (const std::size_t callee : functions[number].calls)
          functions[callee].isInBody = true;
    for (const std::size_t number : order)
      for (const std::size_t callee : functions[number].calls)
        functions[number].hasProducts |= functions[callee].hasProducts;
    return true;
  }

  /// Keeps functions of at least `least` operations. Returns the size of the program then.
  std::uint64_t keep(std::uint64_t least, bool withProducts) {
    std::uint64_t all = 0;
    for (const std::size_t number : order) {
      Function& each = functions[number];
      each.size = each.own;
      for (const std::size_t callee : each.calls)
        if (!functions[callee].isKept)
          each.size = llvm::SaturatingAdd(each.size, functions[callee].size);
      each.isKept = each.canBeCalled && !each.isInBody && each.callers > 1 && each.size >= least &&
                    (withProducts || !each.hasProducts);
      if (each.isKept || each.callers == 0 || each.op.isPublic())
        all = llvm::SaturatingAdd(all, each.size);
    }
    return all;
  }

  /// Keeps as few functions as bring the program to at most `most` operations, and none of fewer
  /// operations than `fewest`. Returns whether that succeeds.
  bool keepUntil(std::uint64_t most, bool withProducts, std::uint64_t fewest) {
    for (std::uint64_t least = kManyOperations; least >= fewest; least /= 2)
      if (keep(least, withProducts) <= most)
        return true;
    return false;
  }

  /// Whether calls of the function stay calls.
  bool isKept(mlir::func::FuncOp function) const {
    return function.getNoInline() || kept.contains(function);
  }
  /// The functions in which calls are inlined, in the order of the program.
  std::vector<mlir::func::FuncOp> roots() {
    std::vector<mlir::func::FuncOp> list;
    for (Function& each : functions) {
      if (each.isKept)
        kept.insert(each.op);
      if (each.isKept || each.callers == 0 || each.op.isPublic() || each.op.getNoInline())
        list.push_back(each.op);
    }
    return list;
  }

private:
  std::vector<Function> functions;
  std::vector<std::size_t> order;
  llvm::DenseSet<mlir::Operation*> kept;
};

struct OpenCall {
  mlir::func::CallOp op;
  int depth;
};

/// Inlines the calls in a function, and the calls in inlined code.
void inlineInto(mlir::func::FuncOp root, mlir::SymbolTable& symbols, const Calls& calls) {
  mlir::InlinerInterface interface(root.getContext());
  const mlir::InlinerConfig config;
  std::vector<OpenCall> open;
  root.walk([&](mlir::func::CallOp call) { open.push_back({call, 0}); });
  while (!open.empty()) {
    auto [call, depth] = open.back();
    open.pop_back();
    auto callee = symbols.lookup<mlir::func::FuncOp>(call.getCallee());
    if (!callee || !llvm::hasSingleElement(callee.getBody()) || calls.isKept(callee))
      continue;
    if (auto site = llvm::dyn_cast<mlir::CallSiteLoc>(call.getLoc());
        site && depth >= kMostNamedCalls)
      call->setLoc(site.getCallee());
    mlir::Operation* const after = call->getNextNode();
    if (mlir::failed(mlir::inlineCall(interface, config.getCloneCallback(), call, callee,
                                      &callee.getBody())))
      continue;
    // Inlined code comes after the call.
    for (mlir::Operation* each = call->getNextNode(); each != after; each = each->getNextNode())
      each->walk([&](mlir::func::CallOp inner) { open.push_back({inner, depth + 1}); });
    call.erase();
  }
}

/// Erases private functions without references, and marks functions that are still called.
void eraseInlined(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> roots,
                  mlir::SymbolTable& symbols) {
  llvm::DenseSet<mlir::Operation*> live;
  llvm::SmallVector<mlir::Operation*> open;
  const auto refer = [&](mlir::Operation* symbol) {
    if (symbol != nullptr && live.insert(symbol).second)
      open.push_back(symbol);
  };
  const auto look = [&](mlir::Operation* op) {
    op->walk([&](mlir::Operation* inner) {
      inner->getAttrDictionary().walk(
          [&](mlir::SymbolRefAttr symbol) { refer(symbols.lookup(symbol.getRootReference())); });
      if (auto call = llvm::dyn_cast<mlir::func::CallOp>(inner))
        if (auto callee = symbols.lookup<mlir::func::FuncOp>(call.getCallee()))
          markCalled(callee);
    });
  };
  for (mlir::Operation& op : *module.getBody())
    if (!llvm::isa<mlir::func::FuncOp>(op))
      look(&op);
  for (mlir::func::FuncOp root : roots)
    refer(root);
  while (!open.empty())
    look(open.pop_back_val());
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>()))
    if (function.isPrivate() && !live.contains(function))
      symbols.erase(function);
}

} // namespace

void inlineCalls(mlir::ModuleOp module, std::uint64_t mostInlined,
                 std::uint64_t mostInlinedProducts) {
  Calls calls(module);
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kFewOperations = 64; // smaller than the copies of a call
  if (!calls.sort())                           // recursive functions are not compiled
    return;
  if (calls.keep(kNone, false) > mostInlined &&
      !calls.keepUntil(mostInlined, false, kFewOperations) &&
      calls.keep(kNone, false) > mostInlinedProducts)
    calls.keepUntil(mostInlinedProducts, true, 2);
  mlir::SymbolTable symbols(module);
  const std::vector<mlir::func::FuncOp> roots = calls.roots();
  for (mlir::func::FuncOp root : roots)
    inlineInto(root, symbols, calls);
  eraseInlined(module, roots, symbols);
}

} // namespace octavo::compiler
