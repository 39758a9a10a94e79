#include "octavo/Transforms/Walks/DotNumbers.h"

#include "octavo/Dialect/StableHLO/Contraction.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace octavo::transforms {

/// Without a dialect prefix: the octavo dialect verifies on which operations its attributes stand,
/// and this mark is temporary.
static constexpr llvm::StringLiteral kNumber = "dot_number";

void numberDots(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getContext());
  std::int64_t number = 0;
  module.walk([&](stablehlo::DotGeneralOp op) {
    op->setDiscardableAttr(kNumber, builder.getI64IntegerAttr(number++));
  });
}

std::optional<std::size_t> numberOfDot(mlir::Operation* op) {
  if (auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(op->getDiscardableAttr(kNumber)))
    return static_cast<std::size_t>(number.getInt());
  return std::nullopt;
}

} // namespace octavo::transforms
