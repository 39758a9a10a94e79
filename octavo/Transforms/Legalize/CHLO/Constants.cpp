// chlo.constant and chlo.constant_like.
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Legalize/CHLO/Operations.h"
#include "octavo/Transforms/Legalize/CHLO/Term.h"

namespace octavo::transforms {

mlir::Value zeros(mlir::OpBuilder& builder, mlir::Location at, mlir::RankedTensorType type) {
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(type.getElementType())) {
    const auto part = llvm::APFloat::getZero(
        llvm::cast<mlir::FloatType>(complex.getElementType()).getFloatSemantics());
    return stablehlo::ConstantOp::create(
        builder, at, mlir::DenseElementsAttr::get(type, std::complex<llvm::APFloat>(part, part)));
  }
  return stablehlo::ConstantOp::create(builder, at,
                                       llvm::cast<mlir::ElementsAttr>(builder.getZeroAttr(type)));
}

Replacements legalizeConstant(mlir::OpBuilder& builder, mlir::Operation* op) {
  return {stablehlo::ConstantOp::create(builder, op->getLoc(),
                                        llvm::cast<chlo::ConstantOp>(op).getValue())};
}

Replacements legalizeConstantLike(mlir::OpBuilder& builder, mlir::Operation* op) {
  auto constant = llvm::cast<chlo::ConstantLikeOp>(op);
  Formula formula(builder, op->getLoc(), op->getOperands(), constant.getType());
  return {formula.result(formula.constant(constant.getValue()))};
}

} // namespace octavo::transforms
