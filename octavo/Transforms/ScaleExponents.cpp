#include "octavo/Transforms/ScaleExponents.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/TensorFacts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace octavo::transforms {

namespace {

constexpr std::int64_t kCodes = 256;

bool isCodeTensor(mlir::Value value) {
  return typeOf(value) && typeOf(value).getElementType().isInteger(8);
}

/// The constant that a value is, or is a broadcast of.
mlir::DenseElementsAttr splatConstant(mlir::Value value) {
  while (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  mlir::DenseElementsAttr constant;
  return matchPattern(value, mlir::m_Constant(&constant)) && constant.isSplat()
             ? constant
             : mlir::DenseElementsAttr();
}

std::string spelled(double number) {
  if (std::isnan(number))
    return "NaN";
  if (number == std::ldexp(1.0, -127))
    return "2^-127";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

/// A copy of what computes one element of a value from the code at its place, on all codes.
class OnAllCodes {
public:
  explicit OnAllCodes(mlir::MLIRContext* context)
      : scratch(mlir::ModuleOp::create(mlir::UnknownLoc::get(context))),
        builder(mlir::OpBuilder::atBlockEnd(scratch->getBody())) {}

  /// The values by code; nothing where they follow from more than codes at their place.
  std::optional<std::vector<double>> values(mlir::Value value) {
    const mlir::Value all = copy(value);
    if (!all || !codes)
      return {};
    // Keeps hold of the value while operations become constants.
    auto held = stablehlo::OptimizationBarrierOp::create(builder, scratch->getLoc(), all);
    for (mlir::Operation& op : llvm::make_early_inc_range(scratch->getBody()->getOperations()))
      if (&op != held && !llvm::isa<stablehlo::ConstantOp>(op) && !foldConstants(&op))
        return {};
    mlir::DenseFPElementsAttr found;
    if (!matchPattern(held->getOperand(0), mlir::m_Constant(&found)))
      return {};
    std::vector<double> numbers;
    for (llvm::APFloat number : found.getValues<llvm::APFloat>()) {
      bool losesInfo = false;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      numbers.push_back(number.convertToDouble());
    }
    return numbers;
  }

  mlir::Value codes; ///< the tensor that they are

private:
  mlir::Value constant(mlir::DenseElementsAttr attribute) {
    return stablehlo::ConstantOp::create(builder, scratch->getLoc(), attribute);
  }

  mlir::Value copy(mlir::Value value) {
    if (mlir::Value known = copies.lookupOrNull(value))
      return known;
    mlir::Value made = make(value);
    if (made)
      copies.map(value, made);
    return made;
  }

  mlir::Value make(mlir::Value value) {
    const mlir::RankedTensorType type = typeOf(value);
    mlir::Operation* op = value.getDefiningOp();
    if (!type)
      return {};
    const mlir::RankedTensorType all = type.getRank() == 0 ? type : type.clone({kCodes});
    if (mlir::DenseElementsAttr number = splatConstant(value))
      return constant(mlir::DenseElementsAttr::get(all, number.getSplatValue<mlir::Attribute>()));
    if (op != nullptr && isComputedPerElement(op)) {
      llvm::SmallVector<mlir::Value> operands;
      for (mlir::Value operand : op->getOperands()) {
        operands.push_back(copy(operand));
        if (!operands.back())
          break;
      }
      if (llvm::all_of(operands, [](mlir::Value each) { return static_cast<bool>(each); })) {
        mlir::Operation* copied = builder.clone(*op);
        copied->setOperands(operands);
        copied->getResult(0).setType(all);
        return copied->getResult(0);
      }
    }
    if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
        broadcast && typeOf(broadcast.getOperand()) && shapeOf(broadcast.getOperand()).empty()) {
      const mlir::Value number = copy(broadcast.getOperand());
      return !number ? number
                     : stablehlo::BroadcastInDimOp::create(builder, scratch->getLoc(), all, number,
                                                           llvm::ArrayRef<std::int64_t>());
    }
    if (!isCodeTensor(value) || type.getRank() == 0 || (codes && codes != value))
      return {};
    codes = value;
    llvm::SmallVector<llvm::APInt> numbers;
    for (std::uint64_t code = 0; code < kCodes; ++code)
      numbers.emplace_back(8, code);
    return constant(
        mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({kCodes}, type.getElementType()),
                                     llvm::ArrayRef<llvm::APInt>(numbers)));
  }

  mlir::OwningOpRef<mlir::ModuleOp> scratch;
  mlir::OpBuilder builder;
  mlir::IRMapping copies;
};

} // namespace

std::optional<Exponents> exponentsOf(mlir::Value scales) {
  if (isCodeTensor(scales) || !llvm::isa<mlir::FloatType>(typeOf(scales).getElementType()))
    return {};
  OnAllCodes evaluation(scales.getContext());
  const auto values = evaluation.values(scales);
  if (!values || values->size() != kCodes)
    return {};
  for (int code = 1; code + 1 < kCodes; ++code)
    if ((*values)[static_cast<std::size_t>(code)] != std::ldexp(1.0, code - 127))
      return {};
  Exponents found{evaluation.codes, {}};
  if (values->front() != std::ldexp(1.0, -127) || !std::isnan(values->back()))
    found.difference = "2^-127 and NaN of codes 0 and 255, of which the program computes " +
                       spelled(values->front()) + " and " + spelled(values->back());
  return found;
}

} // namespace octavo::transforms
