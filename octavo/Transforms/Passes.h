// The passes of octavo/Transforms, for pass managers.
#pragma once

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace octavo::transforms {

/// A pass on a module. Its error messages name the pass and do not print the program.
class ModulePass : public mlir::OperationPass<mlir::ModuleOp> {
public:
  /// The error for an unknown option lists the known ones.
  mlir::LogicalResult initializeOptions(
      llvm::StringRef options,
      llvm::function_ref<mlir::LogicalResult(const llvm::Twine&)> errorHandler) override;

protected:
  explicit ModulePass(mlir::TypeID id) : OperationPass(id) {}
  ModulePass(const ModulePass&) = default;

  /// Emits an error that names the pass, and signals its failure.
  void fail(const llvm::Twine& message);
};

#define GEN_PASS_DECL
#include "octavo/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "octavo/Transforms/Passes.h.inc"

} // namespace octavo::transforms
