// octavo-lsp-server: MLIR's language server with the dialects of the project, for editors.
#include "octavo/Dialect/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char** argv) {
  const llvm::InitLLVM initialization(argc, argv);
  mlir::DialectRegistry registry;
  octavo::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
