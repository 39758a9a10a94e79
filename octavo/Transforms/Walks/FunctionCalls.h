// Who calls whom.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace octavo::transforms {

/// The calls of a private function of a verified module; none where nothing calls it, or something
/// that is no call names it. Searches the module: where many functions are asked about,
/// ProgramCalls answers.
llvm::SmallVector<mlir::func::CallOp> callsOf(mlir::func::FuncOp function);

/// The functions of a module and their calls, found in one walk. Its answers are those of the
/// module as it was then; only `called` knows operations that came later.
class ProgramCalls {
public:
  explicit ProgramCalls(mlir::ModuleOp module);

  /// What calledFunction gives (OpenedCalls.h).
  mlir::func::FuncOp called(mlir::Operation* op) const;

  /// What callsOf gives.
  llvm::ArrayRef<mlir::func::CallOp> callsOf(mlir::func::FuncOp function) const;

  /// Whether something names a function.
  bool isNamed(mlir::func::FuncOp function) const;

  /// Whether a function calls itself, or what calls it.
  bool reachesItself(mlir::func::FuncOp function) const { return circular.contains(function); }

  /// Functions with a body, each after those that it calls; those that reach themselves last.
  llvm::ArrayRef<mlir::func::FuncOp> calleesFirst() const { return order; }

  /// Says that one call stands in the place of another.
  void replace(mlir::func::CallOp call, mlir::func::CallOp by);

private:
  struct Uses {
    llvm::SmallVector<mlir::func::CallOp> calls;
    bool isOnlyCalled = true;
  };

  void findOrder();

  mlir::ModuleOp module;
  mutable mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Operation*, Uses> uses; ///< of functions
  llvm::DenseMap<mlir::Operation*, llvm::SmallVector<mlir::func::FuncOp>> callees;
  llvm::DenseSet<mlir::Operation*> circular;
  std::vector<mlir::func::FuncOp> order;
};

/// Erases private functions that nothing names any more, and what only they called among these.
void eraseUnnamed(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> functions);

} // namespace octavo::transforms
