#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "octavo/Dialect/NestedCalls.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace octavo::transforms {

using mlir::func::CallOp;
using mlir::func::FuncOp;

llvm::SmallVector<CallOp> callsOf(FuncOp function) {
  llvm::SmallVector<CallOp> calls;
  const auto uses = mlir::SymbolTable::getSymbolUses(function.getOperation(),
                                                     function->getParentOfType<mlir::ModuleOp>());
  if (!function.isPrivate() || !uses)
    return {};
  for (const mlir::SymbolTable::SymbolUse& use : *uses) {
    auto call = llvm::dyn_cast<CallOp>(use.getUser());
    if (!call)
      return {};
    calls.push_back(call);
  }
  return calls;
}

ProgramCalls::ProgramCalls(mlir::ModuleOp module) : module(module) {
  if (const auto all = mlir::SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const mlir::SymbolTable::SymbolUse& use : *all) {
      auto function = symbols.lookupNearestSymbolFrom<FuncOp>(use.getUser(), use.getSymbolRef());
      if (!function)
        continue;
      Uses& known = uses[function];
      if (auto call = llvm::dyn_cast<CallOp>(use.getUser()))
        known.calls.push_back(call);
      else
        known.isOnlyCalled = false;
      if (FuncOp callee = called(use.getUser()))
        if (auto caller = use.getUser()->getParentOfType<FuncOp>())
          callees[caller].push_back(callee);
    }
  findOrder();
}

/// Tarjan's algorithm for strongly connected components: a function is placed after all that it
/// calls, and a component with a cycle is circular. Iterative, since calls nest as deep as a
/// program is long.
void ProgramCalls::findOrder() {
  struct Visit {
    FuncOp function;
    std::size_t next = 0, lowest;
  };
  llvm::DenseMap<mlir::Operation*, std::size_t> numbers;
  llvm::DenseSet<mlir::Operation*> open;
  std::vector<FuncOp> component, last;
  std::vector<Visit> visits;
  const auto enter = [&](FuncOp function) {
    numbers[function] = numbers.size();
    visits.push_back({function, 0, numbers.lookup(function)});
    component.push_back(function);
    open.insert(function);
  };
  for (auto root : module.getOps<FuncOp>()) {
    if (numbers.contains(root))
      continue;
    enter(root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const auto found = callees.find(visit.function);
      if (found != callees.end() && visit.next < found->second.size()) {
        FuncOp callee = found->second[visit.next++];
        if (callee == visit.function)
          circular.insert(callee);
        if (!numbers.contains(callee))
          enter(callee);
        else if (open.contains(callee))
          visit.lowest = std::min(visit.lowest, numbers.lookup(callee));
        continue;
      }
      FuncOp function = visit.function;
      const std::size_t lowest = visit.lowest;
      visits.pop_back();
      if (!visits.empty())
        visits.back().lowest = std::min(visits.back().lowest, lowest);
      if (lowest != numbers.lookup(function))
        continue;
      const bool isAlone = component.back() == function;
      for (FuncOp member; member != function;) {
        member = component.back();
        component.pop_back();
        open.erase(member);
        if (!isAlone)
          circular.insert(member);
        if (!member.isExternal())
          (circular.contains(member) ? last : order).push_back(member);
      }
    }
  }
  for (FuncOp function : llvm::reverse(order))
    for (FuncOp callee : callees[function])
      depths[callee] = std::max(depths.lookup(callee), depths.lookup(function) + 1);
  order.insert(order.end(), last.begin(), last.end());
}

std::string ProgramCalls::whyTooDeep(FuncOp function) const {
  if (depths.lookup(function) <= kMostNestedCalls)
    return "";
  return "@" + function.getName().str() + " is within more than " +
         std::to_string(kMostNestedCalls) + " calls";
}

FuncOp ProgramCalls::called(mlir::Operation* op) const {
  mlir::FlatSymbolRefAttr name;
  if (auto call = llvm::dyn_cast<CallOp>(op))
    name = call.getCalleeAttr();
  auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op);
  if (composite && composite.getName() != "xla.scaled_dot")
    name = composite.getDecompositionAttr();
  auto function = name ? symbols.lookupNearestSymbolFrom<FuncOp>(op, name) : FuncOp();
  return function && !function.isExternal() ? function : FuncOp();
}

llvm::ArrayRef<CallOp> ProgramCalls::callsOf(FuncOp function) const {
  const auto found = uses.find(function);
  if (found == uses.end() || !found->second.isOnlyCalled || !function.isPrivate())
    return {};
  return found->second.calls;
}

bool ProgramCalls::isNamed(FuncOp function) const { return uses.contains(function); }

void ProgramCalls::replace(CallOp call, CallOp by) {
  auto function = symbols.lookupNearestSymbolFrom<FuncOp>(by, by.getCalleeAttr());
  if (!function)
    return;
  llvm::SmallVector<CallOp>& calls = uses[function].calls;
  std::replace(calls.begin(), calls.end(), call, by);
}

void eraseUnnamed(mlir::ModuleOp module, llvm::ArrayRef<FuncOp> functions) {
  llvm::DenseMap<mlir::Attribute, std::size_t> uses; // keys: names of functions
  const auto usesOf = [](mlir::Operation* within) {
    return mlir::SymbolTable::getSymbolUses(within);
  };
  const auto all = mlir::SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!all)
    return;
  for (const mlir::SymbolTable::SymbolUse& use : *all)
    ++uses[use.getSymbolRef().getRootReference()];
  llvm::DenseMap<mlir::Attribute, FuncOp> candidates;
  llvm::SmallVector<FuncOp> pending;
  for (FuncOp function : functions)
    if (function.isPrivate() && candidates.insert({function.getSymNameAttr(), function}).second)
      pending.push_back(function);
  while (!pending.empty()) {
    FuncOp function = pending.pop_back_val();
    const mlir::Attribute name = function.getSymNameAttr();
    if (uses.lookup(name) != 0 || !candidates.erase(name))
      continue;
    if (const auto within = usesOf(function))
      for (const mlir::SymbolTable::SymbolUse& use : *within) {
        const mlir::Attribute other = use.getSymbolRef().getRootReference();
        if (--uses[other] == 0)
          if (const auto found = candidates.find(other); found != candidates.end())
            pending.push_back(found->second);
      }
    function.erase();
  }
}

} // namespace octavo::transforms
