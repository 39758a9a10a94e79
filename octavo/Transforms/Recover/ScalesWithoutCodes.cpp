#include "octavo/Transforms/Recover/ScalesWithoutCodes.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Recover/ScaledIntegers.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

/// The values before data movement and widening conversions.
static mlir::Value elementsBeforeWidening(mlir::Value value) {
  for (;;) {
    mlir::Operation* op = value.getDefiningOp();
    if (auto convert = llvm::dyn_cast_or_null<stablehlo::ConvertOp>(op)) {
      const mlir::Type from = mlir::getElementTypeOrSelf(convert.getOperand().getType()),
                       to = mlir::getElementTypeOrSelf(convert.getType());
      const bool areIntegers = llvm::isa<mlir::IntegerType>(from) &&
                               llvm::isa<mlir::IntegerType>(to) &&
                               from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
      if (!areIntegers && !(isWideFloat(to) && from.isIntOrFloat()))
        return value;
    } else if (llvm::isa_and_nonnull<stablehlo::GatherOp>(op) || !movedFrom(value)) {
      return value;
    }
    value = op->getOperand(0);
  }
}

/// The obstacle of a product or quotient of `elements` and scales.
static Obstacle scaledWithoutCodes(mlir::Operation* product, mlir::Value elements) {
  const mlir::Value of = elementsBeforeWidening(elements);
  mlir::Operation* maker = of.getDefiningOp();
  if (llvm::isa_and_nonnull<stablehlo::GatherOp, stablehlo::DynamicGatherOp,
                            stablehlo::TorchIndexSelectOp>(maker))
    return {maker, "looks up the values that scales of E8M0 multiply",
            "bitcast the codes to the narrow float whose values the table has"};
  const bool isComputed = maker != nullptr && !mlir::matchPattern(of, mlir::m_Constant());
  return {product,
          std::string(llvm::isa<stablehlo::DivOp>(product) ? "divides " : "multiplies ") +
              (isComputed
                   ? "what '" + maker->getName().getStringRef().str() + "' gives"
                   : "values of " + mlir::debugString(mlir::getElementTypeOrSelf(of.getType()))) +
              " by scales of E8M0",
          "scale codes of a narrow float, or integers of 8 bits as they are"};
}

Obstacle scalesWithoutCodes(mlir::Operation* dot, mlir::Value side, DequantizationTraces& origins) {
  mlir::Operation* user = dot;
  for (mlir::Value value = side;;) {
    if (isE8m0(value))
      return {user, "takes scales of E8M0 for elements", "multiply the elements by them"};
    mlir::Operation* op = value.getDefiningOp();
    if (llvm::isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op))
      for (unsigned i = 0; i < (llvm::isa<stablehlo::MulOp>(op) ? 2U : 1U); ++i)
        if (!origins.comesFromNarrowOrScales(op->getOperand(i)))
          return scaledWithoutCodes(op, op->getOperand(i));
    const mlir::Value from = movedFrom(value);
    if (!from || !origins.comesFromNarrowOrScales(from))
      return {op != nullptr ? op : value.getParentBlock()->getParentOp(),
              "stands between scales of E8M0, which scale no codes, and the dot",
              "scale codes of a narrow float by them"};
    user = op;
    value = from;
  }
}

} // namespace octavo::transforms
