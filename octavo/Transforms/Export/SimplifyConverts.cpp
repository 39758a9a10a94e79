#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/ConversionChain.h"
#include "octavo/Transforms/Passes.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <optional>

namespace octavo::transforms {

#define GEN_PASS_DEF_SIMPLIFYCONVERTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

const format::ElementFormat* elementOf(mlir::Value value) {
  return elementFormat(mlir::getElementTypeOrSelf(value.getType()));
}

void eraseIfUnused(mlir::Operation* op) {
  if (op->use_empty())
    op->erase();
}

void replace(mlir::Operation* op, mlir::Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

/// The convert before `op`; null unless both are between floats.
stablehlo::ConvertOp convertBefore(stablehlo::ConvertOp op) {
  auto before = op.getOperand().getDefiningOp<stablehlo::ConvertOp>();
  const bool isOfFloats = before && elementOf(before.getOperand()) != nullptr &&
                          elementOf(before.getResult()) != nullptr &&
                          elementOf(op.getResult()) != nullptr;
  return isOfFloats ? before : nullptr;
}

/// Replaces a chain of converts that ends with `op` by one convert or none.
void simplifyChain(stablehlo::ConvertOp op, bool excessPrecision) {
  while (auto before = convertBefore(op)) {
    const format::ElementFormat& from = *elementOf(before.getOperand());
    const format::ElementFormat& through = *elementOf(before.getResult());
    const format::ElementFormat& to = *elementOf(op.getResult());
    if (!numerics::isTransparent(from, through, to)) {
      if (!excessPrecision)
        return;
      before.emitRemark() << "left out a convert from " << from.irName() << " to "
                          << through.irName() << " before one to " << to.irName()
                          << ": values change";
    }
    if (before.getOperand().getType() == op.getType()) {
      replace(op, before.getOperand());
      eraseIfUnused(before);
      return;
    }
    op.getOperandMutable().assign(before.getOperand());
    eraseIfUnused(before);
  }
}

void legalizeReducePrecision(stablehlo::ReducePrecisionOp op, bool toConverts) {
  auto type = llvm::cast<mlir::ShapedType>(op.getType());
  const format::ElementFormat* source = elementFormat(type.getElementType());
  if (source == nullptr || op.getOperand().getType() != type)
    return;
  const int exponentBits = static_cast<int>(op.getExponentBits());
  const int trailingBits = static_cast<int>(op.getMantissaBits());
  if (exponentBits >= source->exponentBits && trailingBits >= source->trailingSignificandBits) {
    replace(op, op.getOperand());
    return;
  }
  const format::ElementFormat* format =
      toConverts ? numerics::formatOfReducePrecision(*source, exponentBits, trailingBits) : nullptr;
  if (format == nullptr)
    return;
  mlir::OpBuilder builder(op);
  auto there = stablehlo::ConvertOp::create(
      builder, op.getLoc(), type.clone(mlirType(op.getContext(), *format)), op.getOperand());
  auto back = stablehlo::ConvertOp::create(builder, op.getLoc(), type, there.getResult());
  replace(op, back.getResult());
}

/// Replaces a pair of converts that ends with `op` by reduce_precision, if it is equivalent.
void recoverReducePrecision(stablehlo::ConvertOp op) {
  auto before = convertBefore(op);
  if (!before || before.getOperand().getType() != op.getType())
    return;
  const format::ElementFormat& source = *elementOf(op.getResult());
  const format::ElementFormat& narrow = *elementOf(before.getResult());
  const format::ElementFormat* format = numerics::formatOfReducePrecision(
      source, narrow.exponentBits, narrow.trailingSignificandBits);
  if (format == nullptr || !(*format == narrow))
    return;
  mlir::OpBuilder builder(op);
  auto rounded = stablehlo::ReducePrecisionOp::create(
      builder, op.getLoc(), op.getType(), before.getOperand(),
      builder.getI32IntegerAttr(narrow.exponentBits),
      builder.getI32IntegerAttr(narrow.trailingSignificandBits));
  replace(op, rounded.getOutput());
  eraseIfUnused(before);
}

/// The inverse of a constant that is a power of two; nullopt for other constants, and if the format
/// does not have the inverse.
std::optional<double> exactInverse(const format::ElementFormat& format, llvm::APFloat constant) {
  bool isInexact = false;
  constant.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
  const double value = constant.convertToDouble();
  if (!std::isfinite(value) || value == 0)
    return std::nullopt;
  int exponent = 0;
  const double inverse = 1 / value;
  if (std::abs(std::frexp(value, &exponent)) != 0.5 || !std::isfinite(inverse) ||
      numerics::round(format, inverse) != inverse)
    return std::nullopt;
  return inverse;
}

/// The constant of the inverses; null if one is inexact.
mlir::DenseElementsAttr exactInverses(mlir::Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  const format::ElementFormat* format = elementOf(value);
  auto elements = constant && format != nullptr
                      ? llvm::dyn_cast<mlir::DenseFPElementsAttr>(constant.getValue())
                      : nullptr;
  if (!elements)
    return {};
  const mlir::Type type = elements.getElementType();
  const auto inverseOf = [&](const llvm::APFloat& element) -> std::optional<llvm::APFloat> {
    const std::optional<double> inverse = exactInverse(*format, element);
    if (!inverse)
      return std::nullopt;
    llvm::APFloat result(*inverse);
    bool isInexact = false;
    result.convert(llvm::cast<mlir::FloatType>(type).getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &isInexact);
    return result;
  };
  llvm::SmallVector<llvm::APFloat> inverses;
  if (elements.isSplat()) {
    if (auto inverse = inverseOf(elements.getSplatValue<llvm::APFloat>()))
      inverses.push_back(*inverse);
  } else {
    for (const llvm::APFloat& element : elements.getValues<llvm::APFloat>()) {
      auto inverse = inverseOf(element);
      if (!inverse)
        return {};
      inverses.push_back(*inverse);
    }
  }
  return inverses.empty() ? mlir::DenseElementsAttr()
                          : mlir::DenseElementsAttr::get(elements.getType(), inverses);
}

/// Replaces a division by a constant, broadcast or not, by a product if that is exact.
void makeProduct(stablehlo::DivOp op) {
  auto broadcast = op.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>();
  const mlir::Value divisor = broadcast ? broadcast.getOperand() : op.getRhs();
  const mlir::DenseElementsAttr inverses = exactInverses(divisor);
  if (!inverses)
    return;
  mlir::OpBuilder builder(op);
  mlir::Value factor = stablehlo::ConstantOp::create(builder, divisor.getLoc(), inverses);
  if (broadcast) {
    mlir::Operation* copy = builder.clone(*broadcast);
    copy->setOperand(0, factor);
    factor = copy->getResult(0);
  }
  auto product = stablehlo::MulOp::create(builder, op.getLoc(), op.getType(), op.getLhs(), factor);
  replace(op, product.getResult());
  for (mlir::Operation* unused :
       {static_cast<mlir::Operation*>(broadcast.getOperation()), divisor.getDefiningOp()})
    if (unused != nullptr)
      eraseIfUnused(unused);
}

struct SimplifyConverts : impl::SimplifyConvertsBase<SimplifyConverts> {
  using SimplifyConvertsBase::SimplifyConvertsBase;

  void runOnOperation() override {
    const bool toConverts = reducePrecision == "converts";
    const bool toOperation = reducePrecision == "operation";
    if (!toConverts && !toOperation && !reducePrecision.empty())
      return fail("reduce-precision is converts or operation; found '" +
                  reducePrecision.getValue() + "'");
    getOperation().walk(
        [&](stablehlo::ReducePrecisionOp op) { legalizeReducePrecision(op, toConverts); });
    // In program order: what is erased was visited.
    getOperation().walk([&](stablehlo::ConvertOp op) { simplifyChain(op, excessPrecision); });
    if (toOperation)
      getOperation().walk([](stablehlo::ConvertOp op) { recoverReducePrecision(op); });
    getOperation().walk([](stablehlo::DivOp op) { makeProduct(op); });
  }
};

} // namespace

} // namespace octavo::transforms
