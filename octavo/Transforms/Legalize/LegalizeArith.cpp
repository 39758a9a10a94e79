#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

namespace octavo::transforms {

#define GEN_PASS_DEF_LEGALIZEARITH
#include "octavo/Transforms/Passes.h.inc"

namespace {

namespace arith = mlir::arith;

bool isTensor(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && !tensor.getElementType().isIndex();
}

bool isBoolean(mlir::Type type) { return mlir::getElementTypeOrSelf(type).isInteger(1); }

/// The name of the StableHLO or CHLO operation with the same operands and result; empty if there is
/// none. Precondition: an operation whose meaning differs for i1 does not have i1 operands.
llvm::StringRef sameOperation(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"arith.addf", "arith.addi"}, "stablehlo.add")
      .Case("arith.andi", "stablehlo.and")
      .Cases({"arith.divf", "arith.divsi"}, "stablehlo.divide")
      .Cases({"arith.maximumf", "arith.maxsi"}, "stablehlo.maximum")
      .Cases({"arith.minimumf", "arith.minsi"}, "stablehlo.minimum")
      .Cases({"arith.mulf", "arith.muli"}, "stablehlo.multiply")
      .Case("arith.negf", "stablehlo.negate")
      .Case("arith.ori", "stablehlo.or")
      .Cases({"arith.remf", "arith.remsi"}, "stablehlo.remainder")
      .Case("arith.shli", "stablehlo.shift_left")
      .Case("arith.shrsi", "stablehlo.shift_right_arithmetic")
      .Case("arith.shrui", "stablehlo.shift_right_logical")
      .Cases({"arith.subf", "arith.subi"}, "stablehlo.subtract")
      .Case("arith.xori", "stablehlo.xor")
      .Cases({"math.absf", "math.absi"}, "stablehlo.abs")
      .Case("math.acos", "chlo.acos")
      .Case("math.acosh", "chlo.acosh")
      .Case("math.asin", "chlo.asin")
      .Case("math.asinh", "chlo.asinh")
      .Case("math.atan", "chlo.atan")
      .Case("math.atan2", "stablehlo.atan2")
      .Case("math.atanh", "chlo.atanh")
      .Case("math.cbrt", "stablehlo.cbrt")
      .Case("math.ceil", "stablehlo.ceil")
      .Case("math.cos", "stablehlo.cosine")
      .Case("math.cosh", "chlo.cosh")
      .Case("math.ctlz", "stablehlo.count_leading_zeros")
      .Case("math.ctpop", "stablehlo.popcnt")
      .Case("math.erf", "chlo.erf")
      .Case("math.erfc", "chlo.erfc")
      .Case("math.exp", "stablehlo.exponential")
      .Case("math.expm1", "stablehlo.exponential_minus_one")
      .Case("math.floor", "stablehlo.floor")
      .Case("math.ipowi", "stablehlo.power")
      .Case("math.isfinite", "stablehlo.is_finite")
      .Case("math.isinf", "chlo.is_inf")
      .Case("math.log", "stablehlo.log")
      .Case("math.log1p", "stablehlo.log_plus_one")
      .Case("math.powf", "stablehlo.power")
      .Case("math.round", "stablehlo.round_nearest_afz")
      .Case("math.roundeven", "stablehlo.round_nearest_even")
      .Case("math.rsqrt", "stablehlo.rsqrt")
      .Case("math.sin", "stablehlo.sine")
      .Case("math.sinh", "chlo.sinh")
      .Case("math.sqrt", "stablehlo.sqrt")
      .Case("math.tan", "stablehlo.tan")
      .Case("math.tanh", "stablehlo.tanh")
      .Default("");
}

bool isPlainConversion(mlir::Operation* op) {
  if (auto truncation = llvm::dyn_cast<arith::TruncFOp>(op))
    return truncation.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
           arith::RoundingMode::to_nearest_even;
  const mlir::Type from = op->getOperand(0).getType();
  if (llvm::isa<arith::ExtUIOp, arith::UIToFPOp>(op))
    return isBoolean(from);
  return llvm::isa<arith::ExtFOp>(op) ||
         (llvm::isa<arith::ExtSIOp, arith::FPToSIOp, arith::SIToFPOp, arith::TruncIOp>(op) &&
          !isBoolean(from) && !isBoolean(op->getResult(0).getType()));
}

/// The StableHLO comparison. With NaN, its NE is true and its others are false.
std::optional<stablehlo::ComparisonDirection> direction(mlir::Operation* op) {
  using Direction = stablehlo::ComparisonDirection;
  if (auto floats = llvm::dyn_cast<arith::CmpFOp>(op)) {
    switch (floats.getPredicate()) {
    case arith::CmpFPredicate::OEQ:
      return Direction::EQ;
    case arith::CmpFPredicate::UNE:
      return Direction::NE;
    case arith::CmpFPredicate::OGE:
      return Direction::GE;
    case arith::CmpFPredicate::OGT:
      return Direction::GT;
    case arith::CmpFPredicate::OLE:
      return Direction::LE;
    case arith::CmpFPredicate::OLT:
      return Direction::LT;
    default:
      return std::nullopt;
    }
  }
  auto integers = llvm::dyn_cast<arith::CmpIOp>(op);
  if (!integers)
    return std::nullopt;
  const arith::CmpIPredicate predicate = integers.getPredicate();
  if (predicate == arith::CmpIPredicate::eq)
    return Direction::EQ;
  if (predicate == arith::CmpIPredicate::ne)
    return Direction::NE;
  if (isBoolean(op->getOperand(0).getType())) // signed, true is less than false
    return std::nullopt;
  switch (predicate) {
  case arith::CmpIPredicate::sge:
    return Direction::GE;
  case arith::CmpIPredicate::sgt:
    return Direction::GT;
  case arith::CmpIPredicate::sle:
    return Direction::LE;
  case arith::CmpIPredicate::slt:
    return Direction::LT;
  default:
    return std::nullopt;
  }
}

mlir::Operation* compare(mlir::OpBuilder& builder, mlir::Location at, mlir::Type result,
                         mlir::Value lhs, mlir::Value rhs, stablehlo::ComparisonDirection direction,
                         stablehlo::ComparisonType kind) {
  mlir::MLIRContext* context = builder.getContext();
  return stablehlo::CompareOp::create(builder, at, result, lhs, rhs,
                                      stablehlo::ComparisonDirectionAttr::get(context, direction),
                                      stablehlo::ComparisonTypeAttr::get(context, kind));
}

/// The StableHLO or CHLO operation; null if `op` stays.
mlir::Operation* legalized(mlir::OpBuilder& builder, mlir::Operation* op) {
  const mlir::Location at = op->getLoc();
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op))
    return stablehlo::ConstantOp::create(builder, at,
                                         llvm::cast<mlir::ElementsAttr>(constant.getValue()));
  const mlir::Type result = op->getResult(0).getType();
  if (isPlainConversion(op))
    return stablehlo::ConvertOp::create(builder, at, result, op->getOperand(0));
  if (const auto found = direction(op)) {
    const auto kind = llvm::isa<arith::CmpFOp>(op)             ? stablehlo::ComparisonType::FLOAT
                      : isBoolean(op->getOperand(0).getType()) ? stablehlo::ComparisonType::UNSIGNED
                                                               : stablehlo::ComparisonType::SIGNED;
    return compare(builder, at, result, op->getOperand(0), op->getOperand(1), *found, kind);
  }
  if (llvm::isa<arith::SelectOp>(op))
    return stablehlo::SelectOp::create(builder, at, result, op->getOperand(0), op->getOperand(1),
                                       op->getOperand(2));
  if (llvm::isa<mlir::math::IsNaNOp>(op))
    return compare(builder, at, result, op->getOperand(0), op->getOperand(0),
                   stablehlo::ComparisonDirection::NE, stablehlo::ComparisonType::FLOAT);
  if (auto clamp = llvm::dyn_cast<mlir::math::ClampFOp>(op))
    return stablehlo::ClampOp::create(builder, at, result, clamp.getMin(), clamp.getValue(),
                                      clamp.getMax());
  const llvm::StringRef same = sameOperation(op->getName().getStringRef());
  const bool hasSameMeaning = llvm::isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                                        mlir::math::IsFiniteOp, mlir::math::IsInfOp>(op);
  if (same.empty() || (isBoolean(result) && !hasSameMeaning))
    return nullptr;
  return builder.create(at, builder.getStringAttr(same), op->getOperands(), result);
}

struct LegalizeArith : impl::LegalizeArithBase<LegalizeArith> {
  void runOnOperation() override {
    getOperation().walk([](mlir::Operation* op) {
      const bool isCandidate =
          llvm::isa_and_nonnull<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) &&
          op->getNumResults() == 1 && isTensor(op->getResult(0).getType()) &&
          llvm::all_of(op->getOperandTypes(), isTensor);
      if (!isCandidate)
        return;
      mlir::OpBuilder builder(op);
      if (mlir::Operation* made = legalized(builder, op)) {
        op->replaceAllUsesWith(made);
        op->erase();
      }
    });
  }
};

} // namespace

} // namespace octavo::transforms
