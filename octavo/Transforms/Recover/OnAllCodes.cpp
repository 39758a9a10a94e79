#include "octavo/Transforms/Recover/OnAllCodes.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

/// The splat constant that a value is moved from; null if none.
mlir::DenseElementsAttr splatConstant(mlir::Value value) {
  while (isMove(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  mlir::DenseElementsAttr constant;
  return matchPattern(value, mlir::m_Constant(&constant)) && constant.isSplat()
             ? constant
             : mlir::DenseElementsAttr();
}

bool areAlike(llvm::ArrayRef<mlir::Operation*> some, llvm::ArrayRef<mlir::Operation*> others) {
  return llvm::equal(some, others, [](mlir::Operation* a, mlir::Operation* b) {
    return a->getName() == b->getName() && a->getAttrDictionary() == b->getAttrDictionary() &&
           openShapeOf(a->getOperand(0)) == openShapeOf(b->getOperand(0)) &&
           openShapeOf(a->getResult(0)) == openShapeOf(b->getResult(0)) &&
           llvm::equal(a->getOperands().drop_front(), b->getOperands().drop_front(), areSame);
  });
}

} // namespace

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

OnAllCodes::OnAllCodes(mlir::MLIRContext* context)
    : scratch(mlir::ModuleOp::create(mlir::UnknownLoc::get(context))),
      builder(mlir::OpBuilder::atBlockEnd(scratch->getBody())) {}

void OnAllCodes::takeCodes(mlir::Value tensor) {
  tensorOfCodes = tensor;
  moves.try_emplace(tensor);
  copies.map(tensor, everyCode(openTypeOf(tensor).getElementType(),
                               [](std::int64_t i) { return i % kCodes; }));
}

void OnAllCodes::takeElements(const format::ElementFormat& format,
                              llvm::ArrayRef<mlir::Value> leaves) {
  elementCodes = std::int64_t{1} << format.width();
  const mlir::Value each =
      everyCode(mlirType(scratch->getContext(), format), [](std::int64_t i) { return i / kCodes; });
  for (mlir::Value leaf : leaves) {
    const mlir::RankedTensorType type = openTypeOf(each).clone(openTypeOf(leaf).getElementType());
    copies.map(leaf, type == each.getType()
                         ? each
                         : stablehlo::ConvertOp::create(builder, scratch->getLoc(), type, each));
  }
}

std::optional<std::vector<double>> OnAllCodes::values(mlir::Value value) {
  const mlir::Value all = copy(value);
  if (!all || !tensorOfCodes)
    return {};
  // Keeps the value in use while operations become constants.
  auto held = stablehlo::OptimizationBarrierOp::create(builder, scratch->getLoc(), all);
  for (mlir::Operation& op : llvm::make_early_inc_range(scratch->getBody()->getOperations()))
    if (&op != held && !llvm::isa<stablehlo::ConstantOp>(op) && !foldConstants(&op))
      return {};
  mlir::DenseFPElementsAttr constant;
  if (!matchPattern(held->getOperand(0), mlir::m_Constant(&constant)))
    return {};
  std::vector<double> numbers;
  for (llvm::APFloat number : constant.getValues<llvm::APFloat>()) {
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    numbers.push_back(number.convertToDouble());
  }
  return numbers;
}

mlir::Value OnAllCodes::constant(mlir::DenseElementsAttr attribute) {
  return stablehlo::ConstantOp::create(builder, scratch->getLoc(), attribute);
}

mlir::Value OnAllCodes::everyCode(mlir::Type element,
                                  llvm::function_ref<std::int64_t(std::int64_t)> code) {
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
  return constant(format ? mlir::DenseElementsAttr::get(type, llvm::ArrayRef<llvm::APFloat>(floats))
                         : mlir::DenseElementsAttr::get(type, llvm::ArrayRef<llvm::APInt>(codes)));
}

mlir::Value OnAllCodes::copy(mlir::Value value) {
  if (mlir::Value known = copies.lookupOrNull(value))
    return known;
  if (++looked > kMostDecodingOperations)
    return {};
  mlir::Value made = make(value);
  if (made)
    copies.map(value, made);
  return made;
}

mlir::Value OnAllCodes::make(mlir::Value value) {
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
  if (llvm::isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(op) &&
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
  if (!isCodeTensor(value) || type.getRank() == 0 || (tensorOfCodes && tensorOfCodes != value))
    return {};
  takeCodes(value);
  return copies.lookup(value);
}

} // namespace octavo::transforms
