// The call graph of a module.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// The calls of a private function of a verified module. Empty if nothing calls it, or if something
/// other than a call names it. Searches the whole module; ProgramCalls answers for many functions.
llvm::SmallVector<mlir::func::CallOp> callsOf(mlir::func::FuncOp function);

/// The functions of a module and their calls, found in one walk. The answers describe the module at
/// construction; only `called` sees later operations.
class ProgramCalls {
public:
  explicit ProgramCalls(mlir::ModuleOp module);

  /// As calledFunction (Inlining.h), with cached symbol lookup.
  mlir::func::FuncOp called(mlir::Operation* op) const;

  /// As the function callsOf above, without a search.
  llvm::ArrayRef<mlir::func::CallOp> callsOf(mlir::func::FuncOp function) const;

  /// Whether a call, or another symbol use, names the function.
  bool isNamed(mlir::func::FuncOp function) const;

  /// Whether the function is on a cycle of the call graph.
  bool reachesItself(mlir::func::FuncOp function) const { return circular.contains(function); }

  /// Why a pass that follows calls down from the public functions by recursion must leave a
  /// function: calls nest too deep (NestedCalls.h). Empty: they do not.
  std::string whyTooDeep(mlir::func::FuncOp function) const;

  /// Functions with a body: first those on no cycle, callees before callers, then those on a cycle.
  llvm::ArrayRef<mlir::func::FuncOp> calleesFirst() const { return order; }

  /// Records that `by` has replaced `call`.
  void replace(mlir::func::CallOp call, mlir::func::CallOp by);

private:
  struct Uses {
    llvm::SmallVector<mlir::func::CallOp> calls;
    bool isOnlyCalled = true;
  };

  void findOrder();

  mlir::ModuleOp module;
  mutable mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Operation*, Uses> uses; ///< keys: functions
  llvm::DenseMap<mlir::Operation*, llvm::SmallVector<mlir::func::FuncOp>> callees;
  llvm::DenseSet<mlir::Operation*> circular;
  llvm::DenseMap<mlir::Operation*, int> depths; ///< of functions: the longest chain of calls to it
  std::vector<mlir::func::FuncOp> order;
};

/// Erases those of `functions` that are private and unnamed, and then those that only erased
/// functions called.
void eraseUnnamed(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> functions);

} // namespace octavo::transforms
