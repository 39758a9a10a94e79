// octavo.fused_dot: its verifier, constraints (U1) to (U4) of Octavo.td.
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::ir {

bool isNarrowProduct(mlir::Operation* op) {
  if (llvm::isa<DotGeneralOp>(op))
    return true;
  const auto isNarrow = [](mlir::Type type) {
    const format::ElementFormat* format = elementFormat(mlir::getElementTypeOrSelf(type));
    return format != nullptr && format->isNarrow();
  };
  return llvm::isa<stablehlo::DotGeneralOp>(op) && llvm::all_of(op->getOperandTypes(), isNarrow);
}

/// (U3), (U4)
static mlir::LogicalResult verifyBody(FusedDotOp op, mlir::Block& body) {
  int products = 0;
  for (mlir::Operation& inner : body) {
    const llvm::StringRef name = inner.getName().getStringRef();
    if (isNarrowProduct(&inner))
      ++products;
    else if (llvm::isa<FusedDotOp, stablehlo::DotGeneralOp>(inner))
      return op.emitOpError()
             << "(U3) needs one product, of scaled tensors or narrow floats; found " << name;
    else if (!mlir::isMemoryEffectFree(&inner))
      return op.emitOpError() << "(U4) takes operations without side effects; found " << name;
  }
  if (products != 1)
    return op.emitOpError() << "(U3) needs one product, of scaled tensors or narrow floats; found "
                            << products;
  return mlir::success();
}

mlir::LogicalResult FusedDotOp::verifyRegions() {
  if (getBody().getArgumentTypes() != getOperandTypes())
    return emitOpError() << "(U1) needs a body that takes the inputs, " << getOperandTypes()
                         << "; found " << getBody().getArgumentTypes();
  mlir::Block& body = getBody().front();
  auto end = llvm::dyn_cast_if_present<YieldOp>(body.empty() ? nullptr : &body.back());
  if (!end)
    return emitOpError() << "(U2) needs a body that ends with octavo.yield";
  if (end.getOperandTypes() != getResultTypes())
    return emitOpError() << "(U2) needs a body that yields the results, " << getResultTypes()
                         << "; found " << end.getOperandTypes();
  return verifyBody(*this, body);
}

} // namespace octavo::ir
