// The verifiers of quantize, dequantize, pack, unpack and convert. The numbers of constraints are
// those of the operations' descriptions in Octavo.td.
#include "octavo/Dialect/Octavo/Assembly.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Types.h"

#include "mlir/IR/TypeUtilities.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/Octavo/Octavo.cpp.inc"

namespace octavo::ir {

/// (Q3), (C2).
static mlir::LogicalResult verifyRandomBits(mlir::Operation* op, llvm::StringRef constraint,
                                            mlir::Value randomBits, numerics::Rounding rounding,
                                            llvm::ArrayRef<std::int64_t> shape) {
  const bool isStochastic = rounding == numerics::Rounding::Stochastic;
  if (isStochastic && !randomBits)
    return op->emitOpError() << "(" << constraint
                             << ") rounding = stochastic needs random bits: random(%bits : ...)";
  if (!isStochastic && randomBits)
    return op->emitOpError() << "(" << constraint << ") has random bits, but rounding = "
                             << llvm::StringRef(numerics::roundingName(rounding));
  if (!randomBits)
    return mlir::success();
  const auto type = llvm::cast<mlir::RankedTensorType>(randomBits.getType());
  if (failed(mlir::verifyCompatibleShape(type.getShape(), shape)))
    return op->emitOpError() << "(" << constraint
                             << ") needs random bits of the operand's shape, found " << type;
  return mlir::success();
}

/// Verifies that `tensor` has the shape of the scaled tensor.
static mlir::LogicalResult verifyShape(mlir::Operation* op, llvm::StringRef constraint,
                                       mlir::Type tensor, ScaledType scaled) {
  if (failed(mlir::verifyCompatibleShape(llvm::cast<mlir::RankedTensorType>(tensor).getShape(),
                                         scaled.getShape())))
    return op->emitOpError() << "(" << constraint << ") needs one shape, found " << tensor
                             << " and " << scaled;
  return mlir::success();
}

mlir::LogicalResult QuantizeOp::verify() {
  const ScaledType type = getResult().getType();
  if (failed(verifyShape(*this, "Q1", getOperand().getType(), type)) ||
      failed(getQuantization().verifyFor([&] { return emitOpError(); }, type)))
    return mlir::failure();
  return verifyRandomBits(*this, "Q3", getRandomBits(),
                          getQuantization().getOptions(type, format::element("f32")).rounding,
                          type.getShape());
}

mlir::LogicalResult DequantizeOp::verify() {
  return verifyShape(*this, "D1", getResult().getType(), getOperand().getType());
}

/// (P1), (P2), (P3): the tensors are the parts of the scaled type.
static mlir::LogicalResult verifyParts(mlir::Operation* op, ScaledType type, mlir::Value elements,
                                       mlir::Value scales, mlir::Value outer) {
  if (!stablehlo::isCompatible(elements.getType(), type.getElementsType()))
    return op->emitOpError() << "(P1) the elements of " << type << " are " << type.getElementsType()
                             << ", found " << elements.getType();
  if (!stablehlo::isCompatible(scales.getType(), type.getScalesType()))
    return op->emitOpError() << "(P2) the scales of " << type << " are " << type.getScalesType()
                             << ", found " << scales.getType();
  if (type.getHasOuterScale() != static_cast<bool>(outer))
    return op->emitOpError() << "(P3) " << type
                             << (outer ? " has no outer scale, found one"
                                       : " has an outer scale, found none");
  return mlir::success();
}

mlir::LogicalResult PackOp::verify() {
  return verifyParts(*this, getResult().getType(), getElements(), getScales(), getOuter());
}

mlir::LogicalResult UnpackOp::verify() {
  return verifyParts(*this, getOperand().getType(), getElements(), getScales(), getOuter());
}

mlir::LogicalResult ConvertOp::verify() {
  const mlir::RankedTensorType operand = getOperand().getType();
  const mlir::RankedTensorType result = getResult().getType();
  if (failed(mlir::verifyCompatibleShape(operand, result)))
    return emitOpError() << "(C1) needs one shape, found " << operand << " and " << result;
  return verifyRandomBits(*this, "C2", getRandomBits(), getConversion().getRounding(),
                          operand.getShape());
}

} // namespace octavo::ir
