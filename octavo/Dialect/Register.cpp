#include "octavo/Dialect/Register.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Check/Check.h"
#include "octavo/Dialect/ForeignAttributes/ForeignAttributes.h"
#include "octavo/Dialect/Interpreter/Interpreter.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace octavo {

void registerDialects(mlir::DialectRegistry& registry) {
  registry.insert<mlir::func::FuncDialect, mlir::quant::QuantDialect, stablehlo::StableHLODialect,
                  chlo::CHLODialect, check::CheckDialect, interpreter::InterpreterDialect,
                  ir::OctavoDialect, sdy::SdyDialect>();
  // Dialects of MLIR that exporters to StableHLO leave in programs.
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::shape::ShapeDialect, mlir::tensor::TensorDialect>();
  registerForeignAttributes(registry);
  // Lets the inliner inline calls of func.
  mlir::func::registerInlinerExtension(registry);
}

void loadDialects(mlir::MLIRContext& context) {
  context
      .loadDialect<mlir::func::FuncDialect, mlir::quant::QuantDialect, stablehlo::StableHLODialect,
                   chlo::CHLODialect, check::CheckDialect, ir::OctavoDialect>();
}

} // namespace octavo
