#include "octavo/Transforms/Recover/DequantizationTrace.h"

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Recover/ScaledIntegers.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <numeric>

namespace octavo::transforms {

/// Whether two operations compute the same from the same operands.
static bool areAlike(mlir::Operation* one, mlir::Operation* other) {
  return one->getName() == other->getName() && mlir::isMemoryEffectFree(one) &&
         one->getNumRegions() == 0 && one->getNumOperands() == other->getNumOperands() &&
         one->getAttrDictionary() == other->getAttrDictionary() &&
         one->getPropertiesAsAttribute() == other->getPropertiesAsAttribute();
}

bool areSame(mlir::Value a, mlir::Value b) {
  constexpr std::size_t kMostPairs = 1000;
  llvm::SetVector<std::pair<mlir::Value, mlir::Value>> pairs;
  pairs.insert({a, b});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [left, right] = pairs[i];
    if (left == right)
      continue;
    if (!left || !right || i == kMostPairs || left.getType() != right.getType())
      return false;
    mlir::Operation *one = left.getDefiningOp(), *other = right.getDefiningOp();
    if (one == nullptr || other == nullptr || !areAlike(one, other) ||
        llvm::cast<mlir::OpResult>(left).getResultNumber() !=
            llvm::cast<mlir::OpResult>(right).getResultNumber())
      return false;
    for (auto [operand, same] : llvm::zip_equal(one->getOperands(), other->getOperands()))
      pairs.insert({operand, same});
  }
  return true;
}

/// The number that all elements of a constant equal.
static std::optional<double> splatOfConstant(mlir::Value value) {
  mlir::DenseElementsAttr constant;
  if (!matchPattern(value, mlir::m_Constant(&constant)) || !constant.isSplat())
    return {};
  const mlir::Type element = constant.getElementType();
  if (llvm::isa<mlir::FloatType>(element)) {
    llvm::APFloat number = constant.getSplatValue<llvm::APFloat>();
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  if (!element.isIntOrIndex())
    return {};
  const auto number = constant.getSplatValue<llvm::APInt>();
  return element.isInteger(1) || element.isUnsignedInteger()
             ? static_cast<double>(number.getZExtValue())
             : static_cast<double>(number.getSExtValue());
}

/// A number after conversion to `element`; nullopt if the result is neither the number nor the
/// number rounded to a wide float.
static std::optional<double> convertedNumber(double number, mlir::Type element) {
  if (auto type = llvm::dyn_cast<mlir::FloatType>(element)) {
    llvm::APFloat converted(number);
    bool losesInfo = false;
    converted.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    converted.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    const double rounded = converted.convertToDouble();
    return isWideFloat(type) || rounded == number ? std::optional(rounded) : std::nullopt;
  }
  auto type = llvm::dyn_cast<mlir::IntegerType>(element);
  if (!type)
    return {};
  const bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
  const double end = std::ldexp(1.0, static_cast<int>(type.getWidth()) - (isSigned ? 1 : 0)),
               least = isSigned ? -end : 0;
  return number == std::trunc(number) && number >= least && number < end ? std::optional(number)
                                                                         : std::nullopt;
}

std::optional<double> splatNumber(mlir::Value value) {
  llvm::SmallVector<mlir::Type> conversions; // the last one first
  for (mlir::Operation* op = value.getDefiningOp(); op != nullptr; op = value.getDefiningOp()) {
    if (llvm::isa<stablehlo::ConvertOp>(op))
      conversions.push_back(mlir::getElementTypeOrSelf(value.getType()));
    else if (!llvm::isa<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp,
                        stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  std::optional<double> number = splatOfConstant(value);
  for (mlir::Type element : llvm::reverse(conversions))
    number = number ? convertedNumber(*number, element) : std::nullopt;
  return number;
}

DequantizationTraces::~DequantizationTraces() {
  for (mlir::Operation* op : llvm::reverse(made))
    if (op->use_empty())
      op->erase();
}

mlir::Value DequantizationTraces::toF32(mlir::OpBuilder& builder, mlir::Location location,
                                        mlir::Value value) {
  const mlir::RankedTensorType type = openTypeOf(value).clone(builder.getF32Type());
  return value.getType() == type ? value
                                 : make<stablehlo::ConvertOp>(builder, location, type, value);
}

mlir::Value DequantizationTraces::scalar(mlir::OpBuilder& builder, mlir::Location location,
                                         mlir::Value one) {
  return OpenShapes(builder, location, made).reshape(one, {}, nullptr);
}

mlir::Value DequantizationTraces::outerScale(mlir::OpBuilder& builder, mlir::Location location,
                                             double number) {
  if (number == 1)
    return {};
  const auto type = mlir::RankedTensorType::get({}, builder.getF32Type());
  return make<stablehlo::ConstantOp>(
      builder, location, mlir::DenseElementsAttr::get(type, static_cast<float>(number)));
}

mlir::Value DequantizationTraces::filled(mlir::OpBuilder& builder, mlir::Location location,
                                         mlir::Attribute number, mlir::Type element,
                                         mlir::Value like) {
  OpenShapes shapes(builder, location, made);
  return shapes.filled(openTypeOf(like).clone(element), number,
                       [&](std::size_t axis) { return shapes.sizeOf(like, axis); });
}

/// Whether an operation moves its operand, or one of the arms that it selects from.
static bool isMovedByParts(mlir::Operation* op) {
  return llvm::isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp,
                   stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp,
                   stablehlo::SliceOp, stablehlo::RealDynamicSliceOp, stablehlo::DynamicGatherOp,
                   stablehlo::DynamicSliceOp, stablehlo::PadOp, stablehlo::SelectOp,
                   stablehlo::GatherOp, stablehlo::ReverseOp>(op);
}

/// The values whose traces decide the trace of `value`.
llvm::SmallVector<mlir::Value> DequantizationTraces::madeOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || !openTypeOf(value) || isCodes(value) || !comesFromNarrow(value))
    return {};
  const bool isFollowed =
      laysOut(op) || llvm::isa<stablehlo::ConvertOp, stablehlo::MulOp, stablehlo::DivOp>(op) ||
      llvm::isa<stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
                stablehlo::CollectiveBroadcastOp>(op) ||
      llvm::isa<stablehlo::DynamicUpdateSliceOp, stablehlo::OptimizationBarrierOp,
                stablehlo::ConcatenateOp, stablehlo::NegOp>(op) ||
      isMovedByParts(op);
  llvm::SmallVector<mlir::Value> values;
  if (isFollowed)
    llvm::copy_if(op->getOperands(), std::back_inserter(values),
                  [&](mlir::Value operand) { return comesFromNarrow(operand); });
  return values;
}

/// Iterative, with a list of pending values: programs are longer than a stack is deep.
DequantizationTrace DequantizationTraces::of(mlir::Value value) {
  llvm::SmallVector<mlir::Value> pending = {value};
  while (!pending.empty()) {
    const mlir::Value next = pending.back();
    if (known.contains(next)) {
      pending.pop_back();
      continue;
    }
    const std::size_t before = pending.size();
    for (mlir::Value each : madeOf(next))
      if (!known.contains(each))
        pending.push_back(each);
    if (pending.size() != before)
      continue;
    pending.pop_back();
    DequantizationTrace origin = find(next);
    known[next] = std::move(origin);
  }
  return known.find(value)->second;
}

bool isForEach(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> block) {
  return llvm::all_of(llvm::zip_equal(shape, block),
                      [](auto axis) { return std::get<0>(axis) == 1 || std::get<1>(axis) == 1; });
}

/// Whether a tensor is one row or one column: each element may have the scale of a column or row.
static bool isRowOrColumn(llvm::ArrayRef<std::int64_t> shape) {
  return shape.size() > 1 &&
         llvm::count_if(shape, [](std::int64_t extent) { return extent != 1; }) == 1;
}

bool isInBlocks(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> block) {
  const std::int64_t count = elementCount(shape);
  return !isForEach(shape, block) || count == 0 || count == 1 || isRowOrColumn(shape);
}

/// The scales of a grid as octavo.pack takes them: empty if there are no elements. A block that
/// spans an open axis has no scale if that axis is empty.
static mlir::Value scalesOfBlocks(mlir::OpBuilder& builder, mlir::Location location,
                                  mlir::RankedTensorType elements, const Dequantized& parts,
                                  mlir::Value scales) {
  const mlir::RankedTensorType type = openTypeOf(scales);
  const bool isEmpty = llvm::is_contained(elements.getShape(), 0);
  Extents grid(type.getShape());
  for (auto [extent, of] : llvm::zip_equal(elements.getShape(), grid))
    if (extent == 0 || (mlir::ShapedType::isDynamic(extent) && (isEmpty || of == 1)))
      of = extent;
  if (!mlir::ShapedType::isDynamicShape(grid) && isEmpty)
    return stablehlo::ConstantOp::create(
        builder, location,
        mlir::DenseElementsAttr::get(type.clone(grid), llvm::ArrayRef<mlir::Attribute>()));
  if (llvm::ArrayRef(grid) == type.getShape())
    return scales;
  std::vector<mlir::Operation*> made;
  OpenShapes shapes(builder, location, made);
  const auto axes = llvm::to_vector(llvm::seq<std::int64_t>(0, type.getRank()));
  return shapes.broadcast(scales, axes, grid, [&](std::size_t axis) {
    const mlir::Value size = shapes.sizeOf(parts.elements, axis);
    return type.getDimSize(axis) == 1 ? shapes.atMostOne(size) : size;
  });
}

mlir::Value packed(mlir::OpBuilder& builder, mlir::Location location, const Dequantized& parts) {
  const mlir::RankedTensorType type = openTypeOf(parts.elements);
  mlir::Value scales = parts.scales;
  Extents block(parts.block);
  if (!scales) {
    block.assign(type.getShape().begin(), type.getShape().end());
    const Extents one(block.size(), 1);
    scales = stablehlo::ConstantOp::create(
        builder, location,
        mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(one, builder.getF32Type()), 1.0F));
  }
  for (std::int64_t& extent : block)
    extent = extent == 0 ? 1 : extent;
  scales = scalesOfBlocks(builder, location, type, parts, scales);
  const auto scaled =
      ir::ScaledType::get(builder.getContext(), type.getShape(), parts.format,
                          elementFormatOf(scales), block, static_cast<bool>(parts.outer));
  return ir::PackOp::create(builder, location, scaled, parts.elements, scales, parts.outer);
}

DequantizationTrace DequantizationTraces::find(mlir::Value value) {
  DequantizationTrace origin = traced(value);
  mlir::Operation* op = value.getDefiningOp();
  if (std::holds_alternative<Obstacle>(origin) && openTypeOf(value) &&
      llvm::isa_and_nonnull<stablehlo::SelectOp, stablehlo::BitcastConvertOp>(op))
    if (std::optional<Dequantized> parts = scaledByExponents(op))
      return *parts;
  return origin;
}

DequantizationTrace DequantizationTraces::traced(mlir::Value value) {
  if (isCodes(value) && openTypeOf(value))
    return Dequantized{value};
  if (!comesFromNarrow(value))
    return {};
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || llvm::isa<stablehlo::WhileOp>(op)) {
    auto* const around = op != nullptr ? op : value.getParentBlock()->getParentOp();
    return llvm::isa<stablehlo::WhileOp>(around)
               ? Obstacle{around,
                          "carries wide values, which are not codes in the same blocks in "
                          "every round",
                          "carry codes and scales"}
               : Obstacle{around, "takes wide values into a computation of its own",
                          "dequantize within it"};
  }
  if (!openTypeOf(value))
    return Obstacle{op, "has extents that are not known",
                    "give the arguments types of known extents, as --octavo-refine-shapes does"};
  if (std::optional<Dequantized> parts = decoded(value))
    return *parts;
  if (const std::optional<unsigned> side = sideOfIntegers(op))
    return scaledIntegers(op, *side);
  if (auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op)) {
    DequantizationTrace wide = of(convert.getOperand());
    if (convertsToWideFloat(convert) || std::holds_alternative<Obstacle>(wide))
      return wide;
    return Obstacle{op, "converts what is dequantized to values of another kind",
                    "quantize what it gives, or leave it out"};
  }
  if (llvm::isa<stablehlo::MulOp, stablehlo::DivOp>(op)) {
    const mlir::Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    const bool isDivided = llvm::isa<stablehlo::DivOp>(op);
    DequantizationTrace first = scaled(op, lhs, rhs, isDivided);
    if (isDivided || std::holds_alternative<Dequantized>(first))
      return first;
    DequantizationTrace second = scaled(op, rhs, lhs, false);
    // The obstacle of the side that comes from codes says more.
    return std::holds_alternative<Dequantized>(second) || !comesFromNarrow(lhs) ? second : first;
  }
  if (auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op)) {
    if (call.getCallTargetName() == "__op$dequantize" && op->getNumOperands() == 2)
      return dequantized(op);
    if (call.getCallTargetName().starts_with("octavo_"))
      return Obstacle{op, "is a call of octavo.jax that octavo has no operation for",
                      "have one outer scale for all members of a batch"};
  }
  if (auto dequantize = llvm::dyn_cast<ir::DequantizeOp>(op))
    return unpacked(dequantize);
  if (llvm::isa<stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
                stablehlo::CollectiveBroadcastOp>(op)) {
    if (!llvm::all_of(op->getOperands(), [](mlir::Value each) { return typeOf(each) != nullptr; }))
      return Obstacle{op, "sends values of extents that are not known",
                      "give the arguments types of known extents, as --octavo-refine-shapes does"};
    return communicated(op, llvm::cast<mlir::OpResult>(value).getResultNumber());
  }
  if (auto update = llvm::dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return updated(update);
  if (llvm::isa<stablehlo::OptimizationBarrierOp>(op))
    return of(op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
  if (llvm::isa<stablehlo::ConcatenateOp>(op))
    return concatenated(op);
  if (llvm::isa<stablehlo::NegOp>(op) || laysOut(op)) {
    DequantizationTrace inner = of(op->getOperand(0));
    const auto* parts = std::get_if<Dequantized>(&inner);
    return parts == nullptr ? inner : laysOut(op) ? laidOut(op, *parts) : negated(op, *parts);
  }
  if (isMovedByParts(op)) {
    auto select = llvm::dyn_cast<stablehlo::SelectOp>(op);
    DequantizationTrace inner = of(op->getOperand(!select ? 0 : movesFirstArm(select) ? 1 : 2));
    if (const auto* parts = std::get_if<Dequantized>(&inner))
      return moved(op, *parts);
    if (std::holds_alternative<Obstacle>(inner))
      return inner;
  }
  if (llvm::isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return Obstacle{op, "chooses among values that are not all codes in the same blocks",
                    "give all branches codes of one format, in the same blocks"};
  if (llvm::isa<mlir::CallOpInterface>(op))
    return Obstacle{op, "calls a function that has no body, or calls itself",
                    "dequantize after the call"};
  return Obstacle{op, "stands between the scale and the dot",
                  "apply it before the quantization, or after the dot"};
}

std::variant<DequantizationTraces::Grid, Obstacle>
DequantizationTraces::fewerScales(mlir::Operation* op, mlir::Value factor, bool isDivided) {
  const std::optional<Grid> grid = gridOf(factor);
  if (!grid || !isInBlocks(openShapeOf(factor), grid->block))
    return Obstacle{op,
                    std::string(isDivided ? "divides" : "multiplies") +
                        " by a tensor that is no broadcast of fewer scales",
                    "broadcast one scale a tensor, row, column or block to the tensor's shape"};
  return *grid;
}

DequantizationTrace DequantizationTraces::scaled(mlir::Operation* op, mlir::Value codes,
                                                 mlir::Value factor, bool isDivided) {
  DequantizationTrace origin = of(codes);
  const auto* parts = std::get_if<Dequantized>(&origin);
  if (parts == nullptr)
    return std::holds_alternative<Obstacle>(origin)
               ? origin
               : Obstacle{op, "divides by narrow values",
                          "multiply by their reciprocals as scales"};
  std::variant<Grid, Obstacle> found = fewerScales(op, factor, isDivided);
  auto* grid = std::get_if<Grid>(&found);
  if (grid == nullptr)
    return std::get<Obstacle>(found);
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  DequantizationTrace result = *parts;
  Dequantized& changed = std::get<Dequantized>(result);
  grid->value = asE8m0(builder, op->getLoc(), grid->value, changed);
  if (isDivided) {
    grid->value = inverse(builder, op->getLoc(), grid->value);
    addNote(changed.note, beyondF32(numbers.of(grid->value)));
  }
  if (!canBeScale(grid->value))
    return Obstacle{op, "has scales of a type that no scaled tensor has", "convert them to f32"};
  return combined(op, changed, *grid);
}

DequantizationTrace DequantizationTraces::combined(mlir::Operation* op, Dequantized parts,
                                                   Grid grid) {
  if (!parts.scales) {
    parts.scales = grid.value;
    parts.block = grid.block;
    return parts;
  }
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  const auto isOne = [](mlir::Value value) { return elementCount(openShapeOf(value)) == 1; };
  const auto isWide = [](mlir::Value value) { return !elementFormatOf(value)->isNarrow(); };
  const auto scalar = [&](mlir::Value value) {
    return this->scalar(builder, op->getLoc(), toF32(builder, op->getLoc(), value));
  };
  if (!parts.outer && isOne(grid.value) && isWide(grid.value) && !isWide(parts.scales)) {
    parts.outer = scalar(grid.value);
    return parts;
  }
  const std::optional<double> outer = parts.outer ? splatNumber(parts.outer) : std::nullopt,
                              number = splatNumber(grid.value);
  if (outer && number && isPowerOfTwo(*outer) && isPowerOfTwo(*number) &&
      isPowerOfTwo(static_cast<float>(*outer * *number))) {
    parts.outer = outerScale(builder, op->getLoc(), *outer * *number);
    return parts;
  }
  if (!parts.outer && isOne(parts.scales) && isWide(parts.scales) && !isWide(grid.value)) {
    parts.outer = scalar(parts.scales);
    parts.scales = grid.value;
    parts.block = grid.block;
    return parts;
  }
  if (parts.outer || !isWide(parts.scales) || !isWide(grid.value) ||
      (!isOne(grid.value) && !isOne(parts.scales) && parts.block != grid.block))
    return Obstacle{op, "is a second grid of scales",
                    "multiply the scales before they are broadcast"};
  if (isOne(parts.scales)) {
    std::swap(parts.scales, grid.value);
    std::swap(parts.block, grid.block);
  }
  if (!isOne(grid.value) && openShapeOf(grid.value) != openShapeOf(parts.scales))
    return Obstacle{op, "is a second grid of scales, of extents that are not known to be the same",
                    "multiply the scales before they are broadcast"};
  const mlir::Value lhs = toF32(builder, op->getLoc(), parts.scales);
  mlir::Value rhs = toF32(builder, op->getLoc(), grid.value);
  if (rhs.getType() != lhs.getType()) {
    OpenShapes shapes(builder, op->getLoc(), made);
    rhs = shapes.broadcast(scalar(rhs), {}, openShapeOf(lhs),
                           [&](std::size_t axis) { return shapes.sizeOf(lhs, axis); });
  }
  parts.scales = make<stablehlo::MulOp>(builder, op->getLoc(), lhs, rhs);
  addNote(parts.note, beyondF32(numbers.of(parts.scales)));
  return parts;
}

DequantizationTrace DequantizationTraces::dequantized(mlir::Operation* call) {
  const mlir::Value codes = call->getOperand(0), scales = call->getOperand(1);
  if (!openTypeOf(codes) || !openTypeOf(scales) || !isCodes(codes) || !canBeScale(scales) ||
      openTypeOf(codes).getRank() != openTypeOf(scales).getRank())
    return Obstacle{call, "has operands of other types than a scaled tensor's", "quantize to one"};
  Dequantized parts{codes, scales};
  for (auto [extent, blocks] : llvm::zip_equal(openShapeOf(codes), openShapeOf(scales))) {
    if (mlir::ShapedType::isDynamic(extent) && blocks == 1) {
      parts.block.push_back(extent);
      continue;
    }
    if (mlir::ShapedType::isDynamic(extent) || mlir::ShapedType::isDynamic(blocks))
      return Obstacle{call, "has open extents, of which no block follows",
                      "give the arguments types of known extents, as --octavo-refine-shapes does"};
    if (blocks < 1 || extent % blocks != 0)
      return Obstacle{call, "has scales of a shape that fits no block",
                      "give as many scales as divide the extent"};
    parts.block.push_back(extent / blocks);
  }
  return parts;
}

/// Inverse of scalesOfBlocks; null if the scales were not made by it.
static mlir::Value gridOfPacked(mlir::Value scales, const Extents& block) {
  if (!llvm::is_contained(block, mlir::ShapedType::kDynamic))
    return scales;
  auto broadcast = scales.getDefiningOp<stablehlo::DynamicBroadcastInDimOp>();
  if (!broadcast || openShapeOf(broadcast.getOperand()).size() != block.size() ||
      !llvm::is_sorted(broadcast.getBroadcastDimensions()))
    return {};
  for (auto [extent, of, each] :
       llvm::zip_equal(openShapeOf(broadcast.getOperand()), openShapeOf(scales), block))
    if (mlir::ShapedType::isDynamic(each) ? extent != 1
                                          : extent != of || mlir::ShapedType::isDynamic(of))
      return {};
  return broadcast.getOperand();
}

/// Whether these are the scales that `packed` gives codes without scales.
static bool isUnscaled(mlir::Value scales) {
  return typeOf(scales) && elementCount(shapeOf(scales)) == 1 &&
         typeOf(scales).getElementType().isF32() && splatNumber(scales) == 1.0;
}

DequantizationTrace DequantizationTraces::unpacked(ir::DequantizeOp op) {
  const auto type = llvm::cast<ir::ScaledType>(op.getOperand().getType());
  const Extents block(type.getBlock());
  Dequantized parts{.elements = {}, .block = block, .format = type.getElement()};
  if (auto pack = op.getOperand().getDefiningOp<ir::PackOp>())
    if (const mlir::Value scales = gridOfPacked(pack.getScales(), block)) {
      parts.elements = pack.getElements();
      if (isUnscaled(scales) && !pack.getOuter()) {
        parts.block.clear();
        return parts;
      }
      parts.scales = scales;
      parts.outer = pack.getOuter();
      return parts;
    }
  if (llvm::is_contained(block, mlir::ShapedType::kDynamic))
    return Obstacle{op, "is a scaled tensor's values", "multiply the scaled tensor itself"};
  mlir::OpBuilder builder(op);
  auto unpack = make<ir::UnpackOp>(builder, op.getLoc(), op.getOperand());
  parts.elements = unpack.getElements();
  parts.scales = unpack.getScales();
  parts.outer = unpack.getOuter();
  return parts;
}

bool DequantizationTraces::movesFirstArm(stablehlo::SelectOp select) {
  return splatNumber(select.getOnFalse()).has_value() || !splatNumber(select.getOnTrue());
}

DequantizationTrace DequantizationTraces::concatenated(mlir::Operation* op) {
  const auto axis =
      static_cast<std::size_t>(llvm::cast<stablehlo::ConcatenateOp>(op).getDimension());
  llvm::SmallVector<mlir::Value> elements, scales;
  std::optional<Dequantized> first;
  bool isShared = true;
  // Operands without elements are ignored, whatever they are.
  llvm::SmallVector<mlir::Value> operands(op->getOperands());
  llvm::erase_if(operands, [](mlir::Value each) { return elementCount(openShapeOf(each)) == 0; });
  if (operands.empty())
    operands.assign(op->operand_begin(), op->operand_end());
  for (mlir::Value operand : operands) {
    DequantizationTrace origin = of(operand);
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (std::holds_alternative<Obstacle>(origin))
      return origin;
    if (parts == nullptr ||
        (first && (parts->format != first->format || !parts->scales != !first->scales ||
                   !areSame(parts->outer, first->outer))))
      return Obstacle{op, "joins codes with values of another kind", "join tensors of one format"};
    if (!first)
      first = *parts;
    isShared = isShared && parts->scales && areSame(parts->scales, first->scales);
    elements.push_back(parts->elements);
    scales.push_back(parts->scales);
    if (!parts->scales)
      continue;
    Extents block = parts->block, expected = first->block;
    const bool isWhole = openShapeOf(parts->scales)[axis] == 1;
    block[axis] = expected[axis] = 1; // compared below
    if (elementFormatOf(parts->scales) != elementFormatOf(first->scales) || block != expected)
      return Obstacle{op, "joins tensors of different blocks", "quantize them in the same blocks"};
    const std::int64_t extent = openShapeOf(parts->elements)[axis];
    if (!isWhole && parts->block[axis] != 1 &&
        (mlir::ShapedType::isDynamic(extent) || extent % parts->block[axis] != 0))
      return Obstacle{op, "joins tensors within a block", "join them on the edges of blocks"};
  }
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  const auto join = [&](mlir::ValueRange values) -> mlir::Value {
    Extents shape(openShapeOf(values.front()));
    const auto extents =
        llvm::map_to_vector(values, [&](mlir::Value value) { return openShapeOf(value)[axis]; });
    shape[axis] = mlir::ShapedType::isDynamicShape(extents)
                      ? mlir::ShapedType::kDynamic
                      : std::accumulate(extents.begin(), extents.end(), std::int64_t{0});
    return make<stablehlo::ConcatenateOp>(builder, op->getLoc(),
                                          openTypeOf(values.front()).clone(shape), values,
                                          static_cast<std::int64_t>(axis));
  };
  Dequantized result = *first;
  result.elements = join(elements);
  if (!first->scales)
    return result;
  const bool isOne = openShapeOf(first->scales)[axis] == 1;
  if (isShared && isOne) {
    result.block[axis] = openShapeOf(result.elements)[axis];
    return result;
  }
  for (mlir::Value operand : operands)
    if (const std::int64_t block = std::get<Dequantized>(of(operand)).block[axis];
        block != first->block[axis] || mlir::ShapedType::isDynamic(block))
      return Obstacle{op, "joins tensors of different scales",
                      "give them one scale, or equal blocks"};
  result.scales = join(scales);
  return result;
}

} // namespace octavo::transforms
