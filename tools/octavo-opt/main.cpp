// octavo-opt: MLIR's driver with the dialects and passes of the project, for tests and for looking
// at what a pass does.
#include "octavo/Dialect/Register.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  octavo::registerDialects(registry);
  octavo::transforms::registerOctavoPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "octavo's passes\n", registry));
}
