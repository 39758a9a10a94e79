#include "octavo/Transforms/ScaleExponents.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/ScaledOrigin.h"
#include "octavo/Transforms/TensorFacts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace octavo::transforms {

namespace {

constexpr std::int64_t kCodes = 256;

using Moves = llvm::SmallVector<mlir::Operation*>;

bool isCodeTensor(mlir::Value value) {
  return openTypeOf(value) &&
         (openTypeOf(value).getElementType().isInteger(8) ||
          llvm::isa<mlir::Float8E8M0FNUType>(openTypeOf(value).getElementType()));
}

bool isMove(mlir::Operation* op) {
  return llvm::isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp,
                               stablehlo::TransposeOp, stablehlo::BroadcastInDimOp,
                               stablehlo::DynamicBroadcastInDimOp>(op);
}

/// The constant that a value is moved from.
mlir::DenseElementsAttr splatConstant(mlir::Value value) {
  while (isMove(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
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

bool areAlike(llvm::ArrayRef<mlir::Operation*> some, llvm::ArrayRef<mlir::Operation*> others) {
  return llvm::equal(some, others, [](mlir::Operation* a, mlir::Operation* b) {
    return a->getName() == b->getName() && a->getAttrDictionary() == b->getAttrDictionary() &&
           openShapeOf(a->getOperand(0)) == openShapeOf(b->getOperand(0)) &&
           openShapeOf(a->getResult(0)) == openShapeOf(b->getResult(0)) &&
           llvm::equal(a->getOperands().drop_front(), b->getOperands().drop_front(), areSame);
  });
}

/// A copy of what computes one element of a value from the code at its place, on all codes; or from
/// a code and an element, on all pairs of them.
class OnAllCodes {
public:
  explicit OnAllCodes(mlir::MLIRContext* context)
      : scratch(mlir::ModuleOp::create(mlir::UnknownLoc::get(context))),
        builder(mlir::OpBuilder::atBlockEnd(scratch->getBody())) {}

  /// The values at [element, code], or by code; nothing where they follow from more.
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

  /// Values that are the elements of a format, in the format or converted.
  void takeElements(const format::ElementFormat& format, llvm::ArrayRef<mlir::Value> leaves) {
    elementCodes = std::int64_t{1} << format.width();
    const mlir::Value each = everyCode(mlirType(scratch->getContext(), format),
                                       [](std::int64_t i) { return i / kCodes; });
    for (mlir::Value leaf : leaves) {
      const mlir::RankedTensorType type = openTypeOf(each).clone(openTypeOf(leaf).getElementType());
      copies.map(leaf, type == each.getType()
                           ? each
                           : stablehlo::ConvertOp::create(builder, scratch->getLoc(), type, each));
    }
  }

  mlir::Value codes; ///< the tensor that they are
  /// What lies between a value and the codes.
  llvm::ArrayRef<mlir::Operation*> movesOf(mlir::Value value) const {
    return moves.find(value)->second;
  }

private:
  std::int64_t count() const { return elementCodes * kCodes; }

  mlir::Value constant(mlir::DenseElementsAttr attribute) {
    return stablehlo::ConstantOp::create(builder, scratch->getLoc(), attribute);
  }

  template <typename Code> mlir::Value everyCode(mlir::Type element, Code code) {
    const unsigned width = element.getIntOrFloatBitWidth();
    const auto type = mlir::RankedTensorType::get({count()}, element);
    llvm::SmallVector<llvm::APInt> codes;
    llvm::SmallVector<llvm::APFloat> floats;
    const auto format = llvm::dyn_cast<mlir::FloatType>(element);
    for (std::int64_t i = 0; i < count(); ++i) {
      const llvm::APInt bits(width, static_cast<std::uint64_t>(code(i)));
      if (format)
        floats.emplace_back(format.getFloatSemantics(), bits);
      else
        codes.push_back(bits);
    }
    return constant(format
                        ? mlir::DenseElementsAttr::get(type, llvm::ArrayRef<llvm::APFloat>(floats))
                        : mlir::DenseElementsAttr::get(type, llvm::ArrayRef<llvm::APInt>(codes)));
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
    const mlir::RankedTensorType type = openTypeOf(value);
    mlir::Operation* op = value.getDefiningOp();
    if (!type)
      return {};
    const mlir::RankedTensorType all = type.getRank() == 0 ? type : type.clone({count()});
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
        for (mlir::Value operand : op->getOperands())
          if (const auto found = moves.find(operand); found != moves.end()) {
            const Moves on = found->second;
            if (!areAlike(moves.try_emplace(value, on).first->second, on))
              return {};
          }
        mlir::Operation* copied = builder.clone(*op);
        copied->setOperands(operands);
        copied->getResult(0).setType(all);
        return copied->getResult(0);
      }
    }
    if (llvm::isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(
            op) &&
        openTypeOf(op->getOperand(0)) && openShapeOf(op->getOperand(0)).empty()) {
      const mlir::Value number = copy(op->getOperand(0));
      return !number ? number
                     : stablehlo::BroadcastInDimOp::create(builder, scratch->getLoc(), all, number,
                                                           llvm::ArrayRef<std::int64_t>());
    }
    if (isMove(op)) {
      const mlir::Value inner = copy(op->getOperand(0));
      const auto found = moves.find(op->getOperand(0));
      if (!inner || found == moves.end())
        return {};
      Moves on = {op};
      llvm::append_range(on, found->second);
      moves.try_emplace(value, std::move(on));
      return inner;
    }
    if (!isCodeTensor(value) || type.getRank() == 0 || (codes && codes != value))
      return {};
    codes = value;
    moves.try_emplace(value);
    return everyCode(type.getElementType(), [](std::int64_t i) { return i % kCodes; });
  }

  mlir::OwningOpRef<mlir::ModuleOp> scratch;
  mlir::OpBuilder builder;
  mlir::IRMapping copies;
  llvm::DenseMap<mlir::Value, Moves> moves; ///< of values that follow from codes
  std::int64_t elementCodes = 1;
};

/// The scale of a code: NaN of 255, or of what 255 stands for.
double scaleOf(std::int64_t code, bool isReciprocal) {
  if (code + 1 == kCodes)
    return std::nan("");
  return std::ldexp(1.0, static_cast<int>(isReciprocal ? 127 - code : code - 127));
}

bool areEqual(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

std::optional<Exponents> exponentsOf(mlir::Value scales) {
  if (isCodeTensor(scales) || !llvm::isa<mlir::FloatType>(openTypeOf(scales).getElementType()))
    return {};
  OnAllCodes evaluation(scales.getContext());
  const auto values = evaluation.values(scales);
  if (!values || values->size() != kCodes)
    return {};
  for (const bool isReciprocal : {false, true}) {
    const std::int64_t smallest = isReciprocal ? kCodes - 2 : 0;
    const auto isRight = [&](std::int64_t code) {
      return areEqual((*values)[static_cast<std::size_t>(code)], scaleOf(code, isReciprocal));
    };
    if (!llvm::all_of(llvm::seq<std::int64_t>(0, kCodes - 1),
                      [&](std::int64_t code) { return code == smallest || isRight(code); }))
      continue;
    Exponents found{evaluation.codes, Moves(evaluation.movesOf(scales)), isReciprocal};
    if (!isRight(smallest) || !isRight(kCodes - 1))
      found.difference = "2^-127 and NaN of codes " + std::to_string(smallest) +
                         " and 255, of which the program computes " +
                         spelled((*values)[static_cast<std::size_t>(smallest)]) + " and " +
                         spelled(values->back());
    return found;
  }
  return {};
}

std::optional<Exponents> exponentsOf(mlir::Value scaled, mlir::Value elements,
                                     llvm::ArrayRef<mlir::Value> leaves) {
  const format::ElementFormat& format = *elementFormatOf(elements);
  if (!llvm::isa<mlir::FloatType>(openTypeOf(scaled).getElementType()))
    return {};
  OnAllCodes evaluation(scaled.getContext());
  evaluation.takeElements(format, leaves);
  const auto values = evaluation.values(scaled);
  const std::int64_t elementCodes = std::int64_t{1} << format.width();
  if (!values || values->size() != static_cast<std::size_t>(elementCodes * kCodes))
    return {};
  for (const bool isReciprocal : {false, true}) {
    Exponents found{evaluation.codes, Moves(evaluation.movesOf(scaled)), isReciprocal};
    std::int64_t others = -1;
    bool isRight = true;
    for (std::int64_t i = 0; isRight && i < elementCodes * kCodes; ++i) {
      const double element = numerics::decode(format, static_cast<std::uint64_t>(i / kCodes)),
                   scale = scaleOf(i % kCodes, isReciprocal),
                   value = (*values)[static_cast<std::size_t>(i)];
      const auto product = static_cast<float>(element * scale);
      if (areEqual(value, product))
        continue;
      // What is no number and what is not normal in f32 may differ, and is told.
      isRight =
          element == 0 ? std::isnan(scale) : !std::isfinite(element) || !std::isnormal(product);
      if (++others == 0)
        found.difference = spelled(product) + " of " + spelled(element) + " by code " +
                           std::to_string(i % kCodes) + ", where the program computes " +
                           spelled(value);
    }
    if (!isRight)
      continue;
    if (others > 0)
      found.difference += ", and " + std::to_string(others) + " products like it";
    return found;
  }
  return {};
}

} // namespace octavo::transforms
