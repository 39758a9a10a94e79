// Quantized family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Quantized.h"
#include "octavo/Dialect/StableHLO/Assembly.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Quantized.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerQuantized() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Quantized.cpp.inc"
      >();
}

using llvm::LogicalResult;
using mlir::RankedTensorType;

LogicalResult UniformDequantizeOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor,
                                                    Types& types) {
  const auto operand = llvm::cast<RankedTensorType>(adaptor.getOperand().getType());
  const auto quantized = llvm::cast<mlir::quant::QuantizedType>(operand.getElementType());
  types.push_back(withElement(operand, quantized.getExpressedType()));
  return mlir::success();
}

LogicalResult UniformQuantizeOp::verify() {
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), result = getType();
  if (!isCompatibleShape(operand, result))
    return check.violated("C1", "operand and result must have one shape; found ",
                          spell(extentsOf(operand)), " and ", spell(extentsOf(result)));
  const auto from = llvm::dyn_cast<mlir::quant::QuantizedType>(operand.getElementType());
  const mlir::Type expressed = from ? from.getExpressedType() : operand.getElementType();
  const auto to = llvm::cast<mlir::quant::QuantizedType>(result.getElementType());
  if (to.getExpressedType() != expressed)
    return check.violated("C2", "the expressed type of the result must be that of the operand, ",
                          expressed, "; found ", to.getExpressedType());
  return mlir::success();
}

} // namespace octavo::stablehlo
