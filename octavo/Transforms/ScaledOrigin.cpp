#include "octavo/Transforms/ScaledOrigin.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Numerics/ConversionChain.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <numeric>

namespace octavo::transforms {

namespace {

mlir::RankedTensorType typeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : mlir::RankedTensorType();
}

llvm::ArrayRef<std::int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

std::int64_t count(llvm::ArrayRef<std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

const format::ElementFormat* formatOf(mlir::Value value) {
  return elementFormat(mlir::getElementTypeOrSelf(value.getType()));
}

/// Codes, whose values scales multiply.
bool isNarrow(mlir::Value value) {
  const format::ElementFormat* format = formatOf(value);
  return format != nullptr && format->isNarrow() && format->hasZero();
}

bool canBeScale(mlir::Value value) {
  const format::ElementFormat* format = formatOf(value);
  return format != nullptr && format->hasNan() && format->width() <= 32;
}

bool isZero(mlir::Value value) { return splatNumber(value) == 0.0; }

/// Whether two values are computed alike from the same ones.
bool areSame(mlir::Value a, mlir::Value b) {
  if (a == b || !a || !b)
    return a == b;
  mlir::Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return one != nullptr && other != nullptr && one->getName() == other->getName() &&
         mlir::isMemoryEffectFree(one) && one->getNumRegions() == 0 &&
         one->getAttrDictionary() == other->getAttrDictionary() &&
         one->getPropertiesAsAttribute() == other->getPropertiesAsAttribute() &&
         a.getType() == b.getType() &&
         llvm::cast<mlir::OpResult>(a).getResultNumber() ==
             llvm::cast<mlir::OpResult>(b).getResultNumber() &&
         llvm::equal(one->getOperands(), other->getOperands(), areSame);
}

} // namespace

std::optional<double> splatNumber(mlir::Value value) {
  while (auto* op = value.getDefiningOp()) {
    if (!llvm::isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::ConvertOp>(op))
      break;
    value = op->getOperand(0);
  }
  mlir::DenseElementsAttr constant;
  if (!matchPattern(value, mlir::m_Constant(&constant)) || !constant.isSplat())
    return {};
  if (llvm::isa<mlir::FloatType>(constant.getElementType())) {
    llvm::APFloat number = constant.getSplatValue<llvm::APFloat>();
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  if (constant.getElementType().isIntOrIndex())
    return static_cast<double>(constant.getSplatValue<llvm::APInt>().getSExtValue());
  return {};
}

ScaledOrigins::~ScaledOrigins() {
  for (mlir::Operation* op : llvm::reverse(made))
    if (op->use_empty())
      op->erase();
}

mlir::Value ScaledOrigins::toF32(mlir::OpBuilder& builder, mlir::Location location,
                                 mlir::Value value) {
  const mlir::RankedTensorType type = typeOf(value).clone(builder.getF32Type());
  return value.getType() == type ? value
                                 : make<stablehlo::ConvertOp>(builder, location, type, value);
}

mlir::Value ScaledOrigins::withShape(mlir::OpBuilder& builder, mlir::Location location,
                                     mlir::Value value, llvm::ArrayRef<std::int64_t> shape) {
  const mlir::RankedTensorType type = typeOf(value).clone(shape);
  return value.getType() == type ? value
                                 : make<stablehlo::ReshapeOp>(builder, location, type, value);
}

ScaledOrigin ScaledOrigins::of(mlir::Value value) {
  if (const auto found = known.find(value); found != known.end())
    return found->second;
  ScaledOrigin origin = find(value);
  known[value] = origin;
  return origin;
}

/// Whether codes are among what a value is computed from, without another product or sum between.
bool ScaledOrigins::comesFromNarrow(mlir::Value value) {
  if (const auto found = narrow.find(value); found != narrow.end())
    return found->second;
  narrow[value] = isNarrow(value); // of circles, too
  if (isNarrow(value))
    return true;
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || llvm::isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp,
                                 stablehlo::ReduceOp, stablehlo::CompareOp, ir::DotGeneralOp>(op))
    return false;
  bool any = false;
  for (mlir::Value operand : op->getOperands())
    any = any || comesFromNarrow(operand);
  return narrow[value] = any;
}

ScaledOrigin ScaledOrigins::find(mlir::Value value) {
  if (isNarrow(value) && typeOf(value))
    return Dequantized{value};
  if (!comesFromNarrow(value))
    return {};
  mlir::Operation* op = value.getDefiningOp();
  if (!typeOf(value))
    return Obstacle{op, "has extents that are not known",
                    "give the arguments types of known extents, as --octavo-refine-shapes does"};
  if (llvm::isa<stablehlo::ConvertOp>(op))
    return of(op->getOperand(0));
  if (llvm::isa<stablehlo::MulOp, stablehlo::DivOp>(op)) {
    const mlir::Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    const bool isDivided = llvm::isa<stablehlo::DivOp>(op);
    ScaledOrigin first = scaled(op, lhs, rhs, isDivided);
    if (isDivided || std::holds_alternative<Dequantized>(first))
      return first;
    ScaledOrigin second = scaled(op, rhs, lhs, false);
    // The side of the codes says more of what is wrong.
    return std::holds_alternative<Dequantized>(second) || !comesFromNarrow(lhs) ? second : first;
  }
  if (auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op))
    if (call.getCallTargetName() == "__op$dequantize" && op->getNumOperands() == 2)
      return dequantized(op);
  if (llvm::isa<ir::DequantizeOp>(op))
    return Obstacle{op, "is a scaled tensor's values", "multiply the scaled tensor itself"};
  if (llvm::isa<stablehlo::OptimizationBarrierOp>(op))
    return of(op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
  if (llvm::isa<stablehlo::ConcatenateOp>(op))
    return concatenated(op);
  if (llvm::isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::PadOp,
                stablehlo::SelectOp>(op)) {
    ScaledOrigin inner = of(op->getOperand(llvm::isa<stablehlo::SelectOp>(op) ? 1 : 0));
    if (const auto* parts = std::get_if<Dequantized>(&inner))
      return moved(op, *parts);
    if (std::holds_alternative<Obstacle>(inner))
      return inner;
  }
  if (llvm::isa<mlir::CallOpInterface>(op))
    return Obstacle{op, "calls a function", "inline it (octavo-opt --inline)"};
  return Obstacle{op, "stands between the scale and the dot",
                  "apply it before the quantization, or after the dot"};
}

ScaledOrigin ScaledOrigins::scaled(mlir::Operation* op, mlir::Value codes, mlir::Value factor,
                                   bool isDivided) {
  ScaledOrigin origin = of(codes);
  const auto* parts = std::get_if<Dequantized>(&origin);
  if (parts == nullptr)
    return std::holds_alternative<Obstacle>(origin)
               ? origin
               : Obstacle{op, "divides by narrow values",
                          "multiply by their reciprocals as scales"};
  std::optional<Grid> grid = gridOf(factor);
  if (!grid ||
      (count(shapeOf(grid->value)) == count(shapeOf(factor)) && count(shapeOf(factor)) > 1))
    return Obstacle{op,
                    std::string(isDivided ? "divides" : "multiplies") +
                        " by a tensor that is no broadcast of fewer scales",
                    "broadcast one scale a tensor, row, column or block to the tensor's shape"};
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  if (isDivided) {
    const mlir::Value wide = toF32(builder, op->getLoc(), grid->value);
    const mlir::Value one = make<stablehlo::ConstantOp>(
        builder, op->getLoc(), mlir::DenseElementsAttr::get(typeOf(wide), 1.0F));
    grid->value = make<stablehlo::DivOp>(builder, op->getLoc(), one, wide);
  }
  if (!canBeScale(grid->value))
    return Obstacle{op, "has scales of a type that no scaled tensor has", "convert them to f32"};
  return combined(op, *parts, *grid);
}

ScaledOrigin ScaledOrigins::combined(mlir::Operation* op, Dequantized parts, Grid grid) {
  if (!parts.scales) {
    parts.scales = grid.value;
    parts.block = grid.block;
    return parts;
  }
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  const auto isOne = [](mlir::Value value) { return count(shapeOf(value)) == 1; };
  const auto isWide = [](mlir::Value value) { return !formatOf(value)->isNarrow(); };
  const auto scalar = [&](mlir::Value value) {
    return withShape(builder, op->getLoc(), toF32(builder, op->getLoc(), value), {});
  };
  if (!parts.outer && isOne(grid.value) && isWide(grid.value) && !isWide(parts.scales)) {
    parts.outer = scalar(grid.value);
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
  const mlir::Value lhs = toF32(builder, op->getLoc(), parts.scales);
  mlir::Value rhs = toF32(builder, op->getLoc(), grid.value);
  if (rhs.getType() != lhs.getType())
    rhs = make<stablehlo::BroadcastInDimOp>(builder, op->getLoc(), lhs.getType(), scalar(rhs),
                                            llvm::ArrayRef<std::int64_t>());
  parts.scales = make<stablehlo::MulOp>(builder, op->getLoc(), lhs, rhs);
  return parts;
}

ScaledOrigin ScaledOrigins::dequantized(mlir::Operation* call) {
  const mlir::Value codes = call->getOperand(0), scales = call->getOperand(1);
  if (!typeOf(codes) || !typeOf(scales) || !isNarrow(codes) || !canBeScale(scales) ||
      typeOf(codes).getRank() != typeOf(scales).getRank())
    return Obstacle{call, "has operands of other types than a scaled tensor's", "quantize to one"};
  Dequantized parts{codes, scales};
  for (auto [extent, blocks] : llvm::zip_equal(shapeOf(codes), shapeOf(scales))) {
    if (blocks < 1 || extent % blocks != 0)
      return Obstacle{call, "has scales of a shape that fits no block",
                      "give as many scales as divide the extent"};
    parts.block.push_back(extent / blocks);
  }
  return parts;
}

ScaledOrigin ScaledOrigins::concatenated(mlir::Operation* op) {
  const auto axis =
      static_cast<std::size_t>(llvm::cast<stablehlo::ConcatenateOp>(op).getDimension());
  llvm::SmallVector<mlir::Value> elements, scales;
  std::optional<Dequantized> first;
  bool isShared = true;
  for (mlir::Value operand : op->getOperands()) {
    ScaledOrigin origin = of(operand);
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (std::holds_alternative<Obstacle>(origin))
      return origin;
    if (parts == nullptr ||
        (first && (formatOf(parts->elements) != formatOf(first->elements) ||
                   !parts->scales != !first->scales || !areSame(parts->outer, first->outer))))
      return Obstacle{op, "joins codes with values of another kind", "join tensors of one format"};
    if (!first)
      first = *parts;
    isShared = isShared && parts->scales && areSame(parts->scales, first->scales);
    elements.push_back(parts->elements);
    scales.push_back(parts->scales);
    if (!parts->scales)
      continue;
    Extents block = parts->block, expected = first->block;
    const bool isWhole = shapeOf(parts->scales)[axis] == 1;
    block[axis] = expected[axis] = 1; // compared below
    if (formatOf(parts->scales) != formatOf(first->scales) || block != expected)
      return Obstacle{op, "joins tensors of different blocks", "quantize them in the same blocks"};
    if (!isWhole && shapeOf(parts->elements)[axis] % parts->block[axis] != 0)
      return Obstacle{op, "joins tensors within a block", "join them on the edges of blocks"};
  }
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  const auto join = [&](mlir::ValueRange values) -> mlir::Value {
    Extents shape(shapeOf(values.front()));
    shape[axis] = 0;
    for (mlir::Value value : values)
      shape[axis] += shapeOf(value)[axis];
    return make<stablehlo::ConcatenateOp>(builder, op->getLoc(),
                                          typeOf(values.front()).clone(shape), values,
                                          static_cast<std::int64_t>(axis));
  };
  Dequantized result = *first;
  result.elements = join(elements);
  if (!first->scales)
    return result;
  const bool isOne = shapeOf(first->scales)[axis] == 1;
  if (isShared && isOne) {
    result.block[axis] = shapeOf(result.elements)[axis];
    return result;
  }
  for (mlir::Value operand : op->getOperands())
    if (std::get<Dequantized>(of(operand)).block[axis] != first->block[axis])
      return Obstacle{op, "joins tensors of different scales",
                      "give them one scale, or equal blocks"};
  result.scales = join(scales);
  return result;
}

ScaledOrigin ScaledOrigins::moved(mlir::Operation* op, const Dequantized& parts) {
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPoint(op);
  const mlir::Location location = op->getLoc();
  const Obstacle cutsBlocks{op, "cuts or mixes blocks", "move whole blocks"};
  const auto from = shapeOf(parts.elements);
  const Extents to(typeOf(op->getResult(0)).getShape());
  Dequantized result = parts;
  const mlir::RankedTensorType type = typeOf(parts.elements).clone(to);
  const auto isWhole = [&](std::size_t axis) { return shapeOf(parts.scales)[axis] == 1; };

  if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
    const auto permutation = transpose.getPermutation();
    const auto permuted = [&](llvm::ArrayRef<std::int64_t> extents) {
      Extents other;
      for (std::int64_t axis : permutation)
        other.push_back(extents[static_cast<std::size_t>(axis)]);
      return other;
    };
    result.elements =
        make<stablehlo::TransposeOp>(builder, location, type, parts.elements, permutation);
    if (parts.scales) {
      result.scales = make<stablehlo::TransposeOp>(
          builder, location, typeOf(parts.scales).clone(permuted(shapeOf(parts.scales))),
          parts.scales, permutation);
      result.block = permuted(parts.block);
    }
    return result;
  }
  if (llvm::isa<stablehlo::ReshapeOp>(op)) {
    result.elements = withShape(builder, location, parts.elements, to);
    if (parts.scales) {
      const std::optional<Grid> grid =
          reshaped(builder, location, {parts.scales, parts.block}, from, to);
      if (!grid)
        return cutsBlocks;
      result.scales = grid->value;
      result.block = grid->block;
    }
    return result;
  }
  if (auto broadcast = llvm::dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    const auto dimensions = broadcast.getBroadcastDimensions();
    result.elements =
        make<stablehlo::BroadcastInDimOp>(builder, location, type, parts.elements, dimensions);
    if (parts.scales) {
      Extents grid(to.size(), 1), block(to);
      for (auto [axis, target] : llvm::enumerate(dimensions))
        if (from[axis] == to[static_cast<std::size_t>(target)]) {
          grid[static_cast<std::size_t>(target)] = shapeOf(parts.scales)[axis];
          block[static_cast<std::size_t>(target)] = parts.block[axis];
        }
      result.scales = make<stablehlo::BroadcastInDimOp>(
          builder, location, typeOf(parts.scales).clone(grid), parts.scales, dimensions);
      result.block = block;
    }
    return result;
  }
  if (auto slice = llvm::dyn_cast<stablehlo::SliceOp>(op)) {
    const auto starts = slice.getStartIndices(), limits = slice.getLimitIndices(),
               strides = slice.getStrides();
    result.elements =
        make<stablehlo::SliceOp>(builder, location, type, parts.elements, starts, limits, strides);
    if (!parts.scales)
      return result;
    Extents gridStarts, gridLimits, gridStrides, grid;
    for (std::size_t axis = 0; axis < to.size(); ++axis) {
      const std::int64_t block = parts.block[axis];
      if (isWhole(axis)) {
        gridStarts.push_back(0);
        gridLimits.push_back(1);
        gridStrides.push_back(1);
        result.block[axis] = std::max<std::int64_t>(to[axis], 1);
      } else if (block == 1 || (strides[axis] == 1 && starts[axis] % block == 0 &&
                                (limits[axis] % block == 0 || limits[axis] == from[axis]))) {
        gridStarts.push_back(starts[axis] / block);
        gridLimits.push_back((limits[axis] + block - 1) / block);
        gridStrides.push_back(strides[axis]);
        result.block[axis] = std::min(block, std::max<std::int64_t>(to[axis], 1));
      } else {
        return cutsBlocks;
      }
      grid.push_back((gridLimits.back() - gridStarts.back() + gridStrides.back() - 1) /
                     gridStrides.back());
    }
    result.scales = make<stablehlo::SliceOp>(builder, location, typeOf(parts.scales).clone(grid),
                                             parts.scales, gridStarts, gridLimits, gridStrides);
    return result;
  }
  if (auto slice = llvm::dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    result.elements = make<stablehlo::DynamicSliceOp>(
        builder, location, type, parts.elements, slice.getStartIndices(), slice.getSliceSizes());
    if (!parts.scales)
      return result;
    Extents grid;
    llvm::SmallVector<mlir::Value> starts(slice.getStartIndices());
    for (std::size_t axis = 0; axis < to.size(); ++axis) {
      if (isWhole(axis)) { // a start of 0 is what any start is clamped to
        grid.push_back(1);
        result.block[axis] = std::max<std::int64_t>(to[axis], 1);
      } else if (parts.block[axis] == 1 || to[axis] == from[axis]) {
        grid.push_back(to[axis] == from[axis] ? shapeOf(parts.scales)[axis] : to[axis]);
      } else {
        return cutsBlocks;
      }
    }
    result.scales = make<stablehlo::DynamicSliceOp>(
        builder, location, typeOf(parts.scales).clone(grid), parts.scales, starts, grid);
    return result;
  }
  const auto zeros = [&](mlir::RankedTensorType of) {
    return make<stablehlo::ConstantOp>(
        builder, location,
        mlir::DenseElementsAttr::get(
            of, llvm::APFloat::getZero(
                    llvm::cast<mlir::FloatType>(of.getElementType()).getFloatSemantics())));
  };
  if (auto select = llvm::dyn_cast<stablehlo::SelectOp>(op)) {
    if (!isZero(select.getOnFalse()))
      return Obstacle{op, "chooses between codes and values that are not 0",
                      "choose before the quantization"};
    result.elements = make<stablehlo::SelectOp>(builder, location, type, select.getPred(),
                                                parts.elements, zeros(type));
    return result;
  }
  auto pad = llvm::cast<stablehlo::PadOp>(op);
  if (!isZero(pad.getPaddingValue()))
    return Obstacle{op, "pads with a value that is not 0",
                    "pad with 0, or before the quantization"};
  const auto low = pad.getEdgePaddingLow(), high = pad.getEdgePaddingHigh(),
             interior = pad.getInteriorPadding();
  result.elements = make<stablehlo::PadOp>(
      builder, location, type, parts.elements,
      zeros(typeOf(pad.getPaddingValue()).clone(type.getElementType())), low, high, interior);
  if (!parts.scales)
    return result;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (low[axis] == 0 && high[axis] == 0 && interior[axis] == 0)
      continue;
    if (!isWhole(axis))
      return cutsBlocks;
    result.block[axis] = std::max<std::int64_t>(to[axis], 1);
  }
  return result;
}

/// Axes of both shapes fall into groups of equal size. In a group the leading axes have a scale for
/// each index, the trailing ones one for all, and the one between them whatever it has.
std::optional<ScaledOrigins::Grid>
ScaledOrigins::reshaped(mlir::OpBuilder& builder, mlir::Location location, const Grid& grid,
                        llvm::ArrayRef<std::int64_t> from, llvm::ArrayRef<std::int64_t> to) {
  if (llvm::is_contained(from, 0) || llvm::is_contained(to, 0))
    return {};
  Extents extents, blocks;
  for (std::size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    const std::size_t begin = i, target = j;
    std::int64_t left = 1, right = 1;
    do {
      if (left <= right && i < from.size())
        left *= from[i++];
      else if (j < to.size())
        right *= to[j++];
      else
        left *= from[i++];
    } while (left != right);
    while (i < from.size() && from[i] == 1 && j == to.size())
      ++i;
    // Consecutive elements of the group that one scale covers.
    std::int64_t run = 1;
    bool isInner = true; // the axes looked at so far have one scale each
    for (std::size_t axis = i; axis-- > begin;) {
      const std::int64_t block = grid.block[axis];
      if (isInner) {
        run *= block;
        isInner = block == from[axis];
        if (!isInner && from[axis] % block != 0 && axis != begin)
          return {};
      } else if (block != 1 && from[axis] != 1) {
        return {};
      }
    }
    std::int64_t rest = run;
    llvm::SmallVector<std::int64_t> groupBlocks;
    for (std::size_t axis = j; axis-- > target;) {
      const std::int64_t block = std::min(rest, to[axis]);
      if (rest > to[axis] ? rest % to[axis] != 0 : to[axis] % block != 0 && axis != target)
        return {};
      groupBlocks.push_back(block);
      rest = rest > to[axis] ? rest / to[axis] : 1;
    }
    for (auto [axis, block] : llvm::zip_equal(llvm::seq(target, j), llvm::reverse(groupBlocks))) {
      blocks.push_back(block);
      extents.push_back((to[axis] + block - 1) / block);
    }
  }
  if (count(extents) != count(shapeOf(grid.value)))
    return {};
  return Grid{withShape(builder, location, grid.value, extents), blocks};
}

std::optional<ScaledOrigins::Grid> ScaledOrigins::gridOf(mlir::Value value) {
  const mlir::RankedTensorType type = typeOf(value);
  mlir::Operation* op = value.getDefiningOp();
  if (!type)
    return {};
  const Grid each{value, Extents(type.getShape().size(), 1)};
  if (op == nullptr || type.getRank() == 0)
    return each;
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  const mlir::Location location = op->getLoc();
  mlir::DenseElementsAttr constant;
  if (matchPattern(value, mlir::m_Constant(&constant)) && constant.isSplat()) {
    const mlir::RankedTensorType one = type.clone(Extents(type.getShape().size(), 1));
    return Grid{make<stablehlo::ConstantOp>(builder, location, constant.resizeSplat(one)),
                Extents(type.getShape())};
  }
  if (auto broadcast = llvm::dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    const std::optional<Grid> inner = gridOf(broadcast.getOperand());
    if (!inner)
      return {};
    const auto from = shapeOf(broadcast.getOperand());
    Extents extents(type.getShape().size(), 1), block(type.getShape());
    for (auto [axis, target] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
      const auto at = static_cast<std::size_t>(target);
      if (from[axis] == type.getShape()[at]) {
        extents[at] = shapeOf(inner->value)[axis];
        block[at] = inner->block[axis];
      }
    }
    return Grid{make<stablehlo::BroadcastInDimOp>(builder, location,
                                                  typeOf(inner->value).clone(extents), inner->value,
                                                  broadcast.getBroadcastDimensions()),
                block};
  }
  if (llvm::isa<stablehlo::ReshapeOp>(op)) {
    const std::optional<Grid> inner = gridOf(op->getOperand(0));
    if (!inner)
      return {};
    const std::optional<Grid> turned =
        reshaped(builder, location, *inner, shapeOf(op->getOperand(0)), type.getShape());
    return turned ? turned : std::optional(each);
  }
  if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
    const std::optional<Grid> inner = gridOf(transpose.getOperand());
    if (!inner)
      return {};
    Extents extents, block;
    for (std::int64_t axis : transpose.getPermutation()) {
      extents.push_back(shapeOf(inner->value)[static_cast<std::size_t>(axis)]);
      block.push_back(inner->block[static_cast<std::size_t>(axis)]);
    }
    return Grid{make<stablehlo::TransposeOp>(builder, location, typeOf(inner->value).clone(extents),
                                             inner->value, transpose.getPermutation()),
                block};
  }
  if (llvm::isa<stablehlo::ConvertOp, stablehlo::BitcastConvertOp>(op)) {
    if (shapeOf(op->getOperand(0)) != type.getShape())
      return each;
    std::optional<Grid> inner = gridOf(op->getOperand(0));
    if (!inner)
      return {};
    const format::ElementFormat *from = formatOf(op->getOperand(0)), *to = formatOf(value);
    if (llvm::isa<stablehlo::ConvertOp>(op) && from != nullptr && to != nullptr &&
        numerics::holdsFiniteValues(*to, *from))
      return inner;
    mlir::Operation* compact = builder.clone(*op);
    compact->setOperand(0, inner->value);
    compact->getResult(0).setType(type.clone(shapeOf(inner->value)));
    made.push_back(compact);
    return Grid{compact->getResult(0), inner->block};
  }
  if (llvm::isa<stablehlo::OptimizationBarrierOp>(op))
    return gridOf(op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
  return each;
}

} // namespace octavo::transforms
