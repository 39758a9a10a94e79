#include "octavo/Transforms/Recover/ScaledIntegers.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Recover/OnAllCodes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

namespace octavo::transforms {

namespace {

constexpr double kUnit = 1.0 / 64; ///< value of the integer 1 in MXINT8

bool isInt8(mlir::Value value) {
  return mlir::getElementTypeOrSelf(value.getType()).isSignlessInteger(8);
}

/// A value times a power of two.
struct Multiple {
  mlir::Value of;
  double factor;
};

std::optional<Multiple> multipleOf(mlir::Operation* op) {
  const bool isProduct = llvm::isa<stablehlo::MulOp>(op);
  if ((!isProduct && !llvm::isa<stablehlo::DivOp>(op)) ||
      !isWideFloat(mlir::getElementTypeOrSelf(op->getResult(0).getType()))) // integers wrap
    return {};
  for (unsigned i = 0; i < (isProduct ? 2U : 1U); ++i)
    if (const std::optional<double> number = splatNumber(op->getOperand(1 - i));
        number && isPowerOfTwo(*number))
      return Multiple{op->getOperand(i), isProduct ? *number : 1 / *number};
  return {};
}

/// Whether a conversion keeps 8-bit integers, and their products by powers of two: to wider
/// integers, and to wide floats.
bool keepsIntegers(stablehlo::ConvertOp convert) {
  const mlir::Type from = mlir::getElementTypeOrSelf(convert.getOperand().getType()),
                   to = mlir::getElementTypeOrSelf(convert.getType());
  const bool isFromIntegers = from.isSignlessInteger() && from.getIntOrFloatBitWidth() >= 8;
  return (isWideFloat(to) && (isFromIntegers || isWideFloat(from))) ||
         (isFromIntegers && to.isSignlessInteger() &&
          to.getIntOrFloatBitWidth() >= from.getIntOrFloatBitWidth());
}

/// Whether a conversion keeps E8M0 scales: to floats with f32's range.
bool keepsE8m0(stablehlo::ConvertOp convert) {
  const mlir::Type from = mlir::getElementTypeOrSelf(convert.getOperand().getType()),
                   to = mlir::getElementTypeOrSelf(convert.getType());
  return isWideFloat(to) && !to.isF16() && (isE8m0(convert.getOperand()) || isWideFloat(from));
}

/// Whether a value is a tensor for which `isFound` holds, after data movement, conversions that
/// `isKept`, and products by powers of two.
bool comesFrom(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isFound,
               llvm::function_ref<bool(stablehlo::ConvertOp)> isKept) {
  for (std::size_t steps = 0; steps < kMostDecodingOperations; ++steps) {
    if (isFound(value))
      return true;
    mlir::Operation* op = value.getDefiningOp();
    if (op == nullptr)
      return false;
    if (const std::optional<Multiple> multiple = multipleOf(op)) {
      value = multiple->of;
      continue;
    }
    auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op);
    if (convert
            ? !isKept(convert)
            : !llvm::isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::TransposeOp,
                         stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// The E8M0 scales that a grid is converted, moved and multiplied by powers of two from. `moves`:
/// the last one first.
std::optional<Multiple> multipleOfE8m0(mlir::Value scales,
                                       llvm::SmallVectorImpl<mlir::Operation*>& moves) {
  double factor = 1;
  for (std::size_t steps = 0; !isE8m0(scales); ++steps) {
    mlir::Operation* op = scales.getDefiningOp();
    if (op == nullptr || steps == kMostDecodingOperations)
      return {};
    if (const std::optional<Multiple> multiple = multipleOf(op)) {
      factor *= multiple->factor;
      scales = multiple->of;
    } else if (auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op)) {
      if (!keepsE8m0(convert))
        return {};
      scales = convert.getOperand();
    } else if (isMove(op)) {
      moves.push_back(op);
      scales = op->getOperand(0);
    } else {
      return {};
    }
  }
  return Multiple{scales, factor};
}

} // namespace

bool isE8m0(mlir::Value value) {
  return llvm::isa<mlir::Float8E8M0FNUType>(mlir::getElementTypeOrSelf(value.getType()));
}

bool isPowerOfTwo(double number) {
  int exponent = 0;
  return number > 0 && std::isfinite(number) && std::frexp(number, &exponent) == 0.5;
}

std::optional<unsigned> sideOfIntegers(mlir::Operation* product) {
  if (!llvm::isa<stablehlo::MulOp>(product) || multipleOf(product))
    return {};
  for (unsigned i = 0; i < 2; ++i)
    if (comesFrom(product->getOperand(i), isInt8, keepsIntegers) &&
        comesFrom(product->getOperand(1 - i), isE8m0, keepsE8m0))
      return i;
  return {};
}

/// The unscaled integers behind `value`, and in `factor` the product of the powers of two.
DequantizationTrace DequantizationTraces::integers(mlir::Value value, double& factor) {
  if (isInt8(value))
    return Dequantized{.elements = value, .format = &format::element("int8")};
  mlir::Operation* op = value.getDefiningOp();
  if (const std::optional<Multiple> multiple = multipleOf(op)) {
    factor *= multiple->factor;
    return integers(multiple->of, factor);
  }
  DequantizationTrace inner = integers(op->getOperand(0), factor);
  const auto* parts = std::get_if<Dequantized>(&inner);
  return parts == nullptr || llvm::isa<stablehlo::ConvertOp>(op) ? inner : moved(op, *parts);
}

/// MXINT8 elements are integers times 2^-6; any other factor becomes an outer scale.
DequantizationTrace DequantizationTraces::scaledIntegers(mlir::Operation* op, unsigned side) {
  double factor = 1 / kUnit;
  DequantizationTrace origin = integers(op->getOperand(side), factor);
  auto* parts = std::get_if<Dequantized>(&origin);
  if (parts == nullptr)
    return origin;
  std::variant<Grid, Obstacle> found = fewerScales(op, op->getOperand(1 - side), false);
  const auto* grid = std::get_if<Grid>(&found);
  if (grid == nullptr)
    return std::get<Obstacle>(found);
  llvm::SmallVector<mlir::Operation*> moves;
  const std::optional<Multiple> scales = multipleOfE8m0(grid->value, moves);
  factor *= scales ? scales->factor : 1;
  if (!scales || !isPowerOfTwo(static_cast<float>(factor)))
    return Obstacle{op, "multiplies 8-bit integers by computed scales",
                    "multiply them by E8M0 scales and a power of two alone"};
  mlir::OpBuilder builder(op);
  parts->scales = movedBy(moves, builder, scales->of);
  parts->block = grid->block;
  parts->outer = outerScale(builder, op->getLoc(), factor);
  return origin;
}

} // namespace octavo::transforms
