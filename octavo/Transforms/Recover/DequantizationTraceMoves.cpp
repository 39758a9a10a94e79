// Repeats data movement of a dequantized tensor on its codes and scales.
#include "octavo/Dialect/Sdy/Axes.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/Sdy/Sharding.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace octavo::transforms {

/// The move of one tensor: its parts, shapes, and the place of new operations.
struct DequantizationTraces::Move {
  Move(mlir::Operation* op, const Dequantized& parts)
      : op(op), parts(parts), builder(op), location(op->getLoc()),
        from(openShapeOf(parts.elements)), to(openShapeOf(op->getResult(0))),
        type(openTypeOf(parts.elements).clone(to)) {}

  bool isWhole(std::size_t axis) const { return openShapeOf(parts.scales)[axis] == 1; }
  bool isOpen() const {
    return mlir::ShapedType::isDynamicShape(from) || mlir::ShapedType::isDynamicShape(to);
  }
  Obstacle cutsBlocks() const {
    return isOpen() ? Obstacle{op, "has open extents, of which blocks are not known to stay whole",
                               "give each row its scale, or the arguments types of known extents"}
                    : Obstacle{op, "cuts or mixes blocks", "move whole blocks"};
  }
  Obstacle hasIndices() const {
    return {op, "takes its places as values of index", "give them as i32 or i64"};
  }
  std::int64_t wholeBlock(std::size_t axis) const { return to[axis] == 0 ? 1 : to[axis]; }

  mlir::Operation* op;
  const Dequantized& parts;
  mlir::OpBuilder builder;
  const mlir::Location location;
  const Extents from, to;
  const mlir::RankedTensorType type; ///< of the moved codes
};

namespace {

/// The code of a NaN or of a zero with its sign; null for other numbers, and if the format has no
/// such code.
mlir::Attribute codeOf(const format::ElementFormat& format, mlir::Type element,
                       std::optional<double> number) {
  const bool isNan = number && std::isnan(*number);
  const bool isNegative = number && std::signbit(*number);
  if (!number ||
      (isNan ? !format.hasNan() : *number != 0.0 || (isNegative && !format.hasNegativeZero())))
    return {};
  if (element.isInteger())
    return mlir::IntegerAttr::get(
        element, llvm::APInt(element.getIntOrFloatBitWidth(), isNegative ? format.signMask() : 0));
  const llvm::fltSemantics& semantics = llvm::cast<mlir::FloatType>(element).getFloatSemantics();
  return mlir::FloatAttr::get(element, isNan ? llvm::APFloat::getNaN(semantics)
                                             : llvm::APFloat::getZero(semantics, isNegative));
}

bool holdsIntegers(mlir::Value shape) {
  return mlir::getElementTypeOrSelf(shape.getType()).isInteger();
}

/// Whether all scales are known to be finite. Computed scales may be anything.
bool areFinite(mlir::Value scales) {
  mlir::DenseElementsAttr constant;
  return !scales || (mlir::matchPattern(scales, mlir::m_Constant(&constant)) &&
                     llvm::all_of(constant.getValues<llvm::APFloat>(),
                                  [](const llvm::APFloat& scale) { return scale.isFinite(); }));
}

} // namespace

void Dequantized::noteZeros() {
  if (!areFinite(scales) || !areFinite(outer))
    addNote(note,
            "NaN where the program puts 0 in the place of values whose scale is NaN or infinite");
}

DequantizationTrace DequantizationTraces::moved(mlir::Operation* op, const Dequantized& parts) {
  Move move(op, parts);
  return llvm::TypeSwitch<mlir::Operation*, DequantizationTrace>(op)
      .Case<stablehlo::TransposeOp, stablehlo::SliceOp, stablehlo::RealDynamicSliceOp,
            stablehlo::DynamicSliceOp, stablehlo::SelectOp, stablehlo::PadOp, stablehlo::GatherOp,
            stablehlo::DynamicGatherOp, stablehlo::ReverseOp>(
          [&](auto each) { return movedBy(each, move); })
      .Case<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(
          [&](mlir::Operation*) { return broadcastParts(move); })
      .Default([&](mlir::Operation*) { return reshapedParts(move); });
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::TransposeOp transpose, Move& move) {
  Dequantized result = move.parts;
  const auto permutation = transpose.getPermutation();
  result.elements = make<stablehlo::TransposeOp>(move.builder, move.location, move.type,
                                                 move.parts.elements, permutation);
  if (move.parts.scales) {
    result.scales = make<stablehlo::TransposeOp>(
        move.builder, move.location,
        openTypeOf(move.parts.scales).clone(permuted(openShapeOf(move.parts.scales), permutation)),
        move.parts.scales, permutation);
    result.block = permuted(move.parts.block, permutation);
  }
  return result;
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::ReverseOp reverse, Move& move) {
  Dequantized result = move.parts;
  const auto axes = reverse.getDimensions();
  result.elements =
      make<stablehlo::ReverseOp>(move.builder, move.location, move.type, move.parts.elements, axes);
  if (!move.parts.scales)
    return result;
  for (std::int64_t axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    if (!move.isWhole(at) && move.from[at] % move.parts.block[at] != 0)
      return move.cutsBlocks();
  }
  result.scales = make<stablehlo::ReverseOp>(move.builder, move.location,
                                             move.parts.scales.getType(), move.parts.scales, axes);
  return result;
}

/// Repeats the operation on the codes.
mlir::Value DequantizationTraces::movedElements(Move& move) {
  mlir::Operation* same = move.builder.clone(*move.op);
  same->setOperand(0, move.parts.elements);
  same->getResult(0).setType(move.type);
  made.push_back(same);
  return same->getResult(0);
}

/// Negates the codes, which is exact in formats with -0.
DequantizationTrace DequantizationTraces::negated(mlir::Operation* op, const Dequantized& parts) {
  if (!parts.format->hasNegativeZero())
    return Obstacle{op, "negates codes of a format without -0", "negate after the dot"};
  mlir::OpBuilder builder(op);
  Dequantized result = parts;
  const mlir::Type element = openTypeOf(parts.elements).getElementType();
  if (!element.isInteger()) {
    result.elements =
        make<stablehlo::NegOp>(builder, op->getLoc(), parts.elements.getType(), parts.elements);
    return result;
  }
  const auto sign = mlir::IntegerAttr::get(
      element, llvm::APInt(element.getIntOrFloatBitWidth(), parts.format->signMask()));
  result.elements =
      make<stablehlo::XorOp>(builder, op->getLoc(), parts.elements.getType(), parts.elements,
                             filled(builder, op->getLoc(), sign, element, parts.elements));
  return result;
}

/// The sharding operation `op`, repeated on codes or scales. Axes that the mesh does not cut into
/// whole blocks get no sharding.
mlir::Value DequantizationTraces::laidOutAs(mlir::Operation* op, mlir::Value part) {
  mlir::OpBuilder builder(op);
  mlir::Operation* same = builder.clone(*op);
  made.push_back(same);
  same->setOperand(0, part);
  same->getResult(0).setType(part.getType());
  llvm::TypeSwitch<mlir::Operation*>(same).Case<sdy::ShardingConstraintOp, sdy::ReshardOp>(
      [&](auto constraint) {
        const sdy::TensorShardingAttr sharding = constraint.getSharding();
        const sdy::MeshAttr mesh = sdy::meshOf(sharding, op);
        llvm::SmallVector<sdy::DimensionShardingAttr> axes;
        for (auto [axis, extent] : llvm::zip_equal(sharding.getDimShardings(), openShapeOf(part)))
          axes.push_back(mlir::ShapedType::isDynamic(extent) ||
                                 extent % sdy::AxisSpans(axis.getAxes(), mesh).parts() == 0
                             ? axis
                             : sdy::DimensionShardingAttr::get(op->getContext(), {},
                                                               axis.getIsClosed(), std::nullopt));
        constraint.setShardingAttr(sdy::TensorShardingAttr::get(
            op->getContext(), sharding.getMeshOrRef(), axes, sharding.getReplicatedAxes(),
            sharding.getUnreducedAxes()));
      });
  return same->getResult(0);
}

DequantizationTrace DequantizationTraces::laidOut(mlir::Operation* op, const Dequantized& parts) {
  Dequantized result = parts;
  result.elements = laidOutAs(op, parts.elements);
  if (parts.scales)
    result.scales = laidOutAs(op, parts.scales);
  return result;
}

DequantizationTrace DequantizationTraces::reshapedParts(Move& move) {
  Dequantized result = move.parts;
  result.elements = movedElements(move);
  if (move.parts.scales) {
    const std::optional<Grid> grid =
        reshaped(move.builder, move.op, {move.parts.scales, move.parts.block}, move.parts.elements);
    if (!grid)
      return move.cutsBlocks();
    result.scales = grid->value;
    result.block = grid->block;
  }
  return result;
}

DequantizationTrace DequantizationTraces::broadcastParts(Move& move) {
  Dequantized result = move.parts;
  result.elements = movedElements(move);
  if (move.parts.scales) {
    const std::optional<Grid> grid = broadcast(
        move.builder, move.op, {move.parts.scales, move.parts.block}, move.parts.elements);
    if (!grid)
      return move.cutsBlocks();
    result.scales = grid->value;
    result.block = grid->block;
  }
  return result;
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::SliceOp slice, Move& move) {
  Dequantized result = move.parts;
  const auto starts = slice.getStartIndices(), limits = slice.getLimitIndices(),
             strides = slice.getStrides();
  result.elements = make<stablehlo::SliceOp>(move.builder, move.location, move.type,
                                             move.parts.elements, starts, limits, strides);
  if (!move.parts.scales)
    return result;
  const std::optional<Grid> grid =
      sliced(move.builder, slice, {move.parts.scales, move.parts.block});
  if (!grid)
    return move.cutsBlocks();
  result.scales = grid->value;
  result.block = grid->block;
  return result;
}

/// A slice with bounds as operands. On an axis with a scale for each index, they are those of the
/// scales, too.
DequantizationTrace DequantizationTraces::movedBy(stablehlo::RealDynamicSliceOp slice, Move& move) {
  Dequantized result = move.parts;
  const mlir::Value lists[] = {slice.getStartIndices(), slice.getLimitIndices(),
                               slice.getStrides()};
  if (!llvm::all_of(lists, holdsIntegers))
    return move.hasIndices();
  result.elements = movedElements(move);
  if (!move.parts.scales)
    return result;
  OpenShapes shapes(move.builder, move.location, made);
  Extents grid(move.to), places[3];
  for (std::size_t axis = 0; axis < move.to.size(); ++axis) {
    const std::int64_t block = move.parts.block[axis];
    std::int64_t numbers[3];
    for (auto [number, list] : llvm::zip_equal(numbers, lists))
      number = numberAt(list, axis).value_or(mlir::ShapedType::kDynamic);
    if (move.isWhole(axis)) {
      grid[axis] = numbers[1] = numbers[2] = 1;
      numbers[0] = 0;
      result.block[axis] = move.wholeBlock(axis);
    } else if (block != 1) {
      if (mlir::ShapedType::isDynamicShape(numbers) || numbers[2] != 1 || numbers[0] % block != 0 ||
          (numbers[1] % block != 0 && numbers[1] != move.from[axis]))
        return move.cutsBlocks();
      result.block[axis] = std::min(block, move.wholeBlock(axis));
      numbers[0] /= block;
      numbers[1] = (numbers[1] + block - 1) / block;
      grid[axis] = numbers[1] - numbers[0];
    }
    for (auto [list, number] : llvm::zip_equal(places, numbers))
      list.push_back(number);
  }
  llvm::SmallVector<mlir::Value> operands;
  for (auto [list, from] : llvm::zip_equal(places, lists))
    operands.push_back(shapes.shape(
        list, [&, from = from](std::size_t axis) { return shapes.sizeAt(from, axis); }));
  result.scales = make<stablehlo::RealDynamicSliceOp>(
      move.builder, move.location, openTypeOf(move.parts.scales).clone(grid), move.parts.scales,
      operands[0], operands[1], operands[2]);
  return result;
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::DynamicSliceOp slice, Move& move) {
  Dequantized result = move.parts;
  result.elements =
      make<stablehlo::DynamicSliceOp>(move.builder, move.location, move.type, move.parts.elements,
                                      slice.getStartIndices(), slice.getSliceSizes());
  if (!move.parts.scales)
    return result;
  Extents grid;
  llvm::SmallVector<mlir::Value> starts(slice.getStartIndices());
  for (std::size_t axis = 0; axis < move.to.size(); ++axis) {
    if (move.isWhole(axis)) { // any start is clamped to 0
      grid.push_back(1);
      result.block[axis] = move.wholeBlock(axis);
    } else if (move.parts.block[axis] == 1 || move.to[axis] == move.from[axis]) {
      grid.push_back(move.to[axis] == move.from[axis] ? openShapeOf(move.parts.scales)[axis]
                                                      : move.to[axis]);
    } else {
      return move.cutsBlocks();
    }
  }
  result.scales = make<stablehlo::DynamicSliceOp>(move.builder, move.location,
                                                  openTypeOf(move.parts.scales).clone(grid),
                                                  move.parts.scales, starts, grid);
  return result;
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::SelectOp select, Move& move) {
  const bool isFirst = movesFirstArm(select);
  const mlir::Value other = isFirst ? select.getOnFalse() : select.getOnTrue();
  const std::optional<double> number = splatNumber(other);
  const mlir::Type element = move.type.getElementType();
  const mlir::Attribute code = codeOf(*move.parts.format, element, number);
  if (!code && number && std::isnan(*number))
    return Obstacle{select, "chooses NaN, which the codes do not have",
                    "choose 0, as a gather with mode='fill', fill_value=0 does"};
  if (!code)
    return Obstacle{select, "chooses between codes and values that are not 0",
                    "choose before the quantization"};
  const mlir::Value arm = filled(move.builder, move.location, code, element, move.parts.elements);
  Dequantized result = move.parts;
  result.elements = make<stablehlo::SelectOp>(move.builder, move.location, move.type,
                                              select.getPred(), isFirst ? move.parts.elements : arm,
                                              isFirst ? arm : move.parts.elements);
  if (*number == 0)
    result.noteZeros();
  return result;
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::PadOp pad, Move& move) {
  Dequantized result = move.parts;
  const std::optional<double> number = splatNumber(pad.getPaddingValue());
  const mlir::Type element = move.type.getElementType();
  const mlir::Attribute code = codeOf(*move.parts.format, element, number);
  if (number != 0.0 || !code)
    return Obstacle{pad, "pads with a value that is not 0",
                    "pad with 0, or before the quantization"};
  const auto low = pad.getEdgePaddingLow(), high = pad.getEdgePaddingHigh(),
             interior = pad.getInteriorPadding();
  const mlir::Value zero = OpenShapes(move.builder, move.location, made)
                               .filled(mlir::RankedTensorType::get({}, element), code, nullptr);
  result.elements = make<stablehlo::PadOp>(move.builder, move.location, move.type,
                                           move.parts.elements, zero, low, high, interior);
  result.noteZeros();
  if (!move.parts.scales)
    return result;
  // Zeros fit any scale: each whole block of them gets a scale of 1.
  Extents gridLow, gridHigh, gridInterior, grid(openShapeOf(move.parts.scales));
  for (std::size_t axis = 0; axis < move.to.size(); ++axis) {
    const std::int64_t block = move.parts.block[axis];
    const bool isSame = low[axis] == 0 && high[axis] == 0 && interior[axis] == 0;
    const bool isPerElement = block == 1 && !move.isWhole(axis);
    if (move.isWhole(axis) && !isSame)
      result.block[axis] = move.wholeBlock(axis);
    else if (!isSame && !isPerElement &&
             (interior[axis] != 0 || low[axis] % block != 0 || high[axis] % block != 0 ||
              move.from[axis] % block != 0))
      return move.cutsBlocks();
    const bool isPadded = !isSame && !move.isWhole(axis);
    gridLow.push_back(isPadded ? low[axis] / block : 0);
    gridHigh.push_back(isPadded ? high[axis] / block : 0);
    gridInterior.push_back(isPadded ? interior[axis] : 0);
    if (isPadded)
      grid[axis] = move.to[axis] / block;
  }
  const auto isZero = [](std::int64_t count) { return count == 0; };
  if (llvm::all_of(gridLow, isZero) && llvm::all_of(gridHigh, isZero) &&
      llvm::all_of(gridInterior, isZero))
    return result;
  const mlir::RankedTensorType scales = openTypeOf(move.parts.scales);
  const auto scale = llvm::cast<mlir::FloatType>(scales.getElementType());
  const mlir::Value one = make<stablehlo::ConstantOp>(
      move.builder, move.location,
      mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({}, scale),
                                   llvm::APFloat(scale.getFloatSemantics(), 1)));
  result.scales = make<stablehlo::PadOp>(move.builder, move.location, scales.clone(grid),
                                         move.parts.scales, one, gridLow, gridHigh, gridInterior);
  return result;
}

/// A gather of rows: on each axis it takes all, or indices with a scale each, or indices that share
/// one scale.
DequantizationTrace DequantizationTraces::movedBy(stablehlo::GatherOp gather, Move& move) {
  return gathered(move, gather.getDimensionNumbers(), Extents(gather.getSliceSizes()), {});
}

DequantizationTrace DequantizationTraces::movedBy(stablehlo::DynamicGatherOp gather, Move& move) {
  if (!holdsIntegers(gather.getSliceSizes()))
    return move.hasIndices();
  Extents sizes;
  for (std::size_t axis = 0; axis < move.from.size(); ++axis)
    sizes.push_back(numberAt(gather.getSliceSizes(), axis).value_or(mlir::ShapedType::kDynamic));
  return gathered(move, gather.getDimensionNumbers(), sizes, gather.getSliceSizes());
}

/// `sizes`: extents of the slices; open ones are those of `operand`.
DequantizationTrace DequantizationTraces::gathered(Move& move,
                                                   stablehlo::GatherDimensionNumbersAttr numbers,
                                                   llvm::ArrayRef<std::int64_t> sizes,
                                                   mlir::Value operand) {
  OpenShapes shapes(move.builder, move.location, made);
  const auto isIn = [](llvm::ArrayRef<std::int64_t> axes, std::size_t axis) {
    return llvm::is_contained(axes, static_cast<std::int64_t>(axis));
  };
  Dequantized result = move.parts;
  result.elements = movedElements(move);
  if (!move.parts.scales)
    return result;
  mlir::Value scales = move.parts.scales;
  Extents wide(openShapeOf(scales)), slice, grid, block;
  bool isIndexed = false; // whether the choice of scales depends on the indices
  for (std::size_t axis = 0; axis < move.from.size(); ++axis) {
    const bool isAll = sizes[axis] == move.from[axis] && !mlir::ShapedType::isDynamic(sizes[axis]);
    const bool isBatching = isIn(numbers.getOperandBatchingDims(), axis);
    if (!isAll && !move.isWhole(axis) && move.parts.block[axis] != 1)
      return move.cutsBlocks();
    isIndexed = isIndexed || (!move.isWhole(axis) && (!isAll || isBatching));
    slice.push_back(isAll || move.isWhole(axis) ? wide[axis] : sizes[axis]);
    if (isBatching) {
      wide[axis] = move.from[axis];
      slice.back() = 1;
    }
    if (isIn(numbers.getCollapsedSliceDims(), axis) || isBatching)
      continue;
    grid.push_back(slice.back());
    block.push_back(move.isWhole(axis) ? sizes[axis] : move.parts.block[axis]);
  }
  Extents extents(move.to), blocks(move.to.size(), 1);
  for (auto [axis, of, in] : llvm::zip_equal(numbers.getOffsetDims(), grid, block)) {
    extents[static_cast<std::size_t>(axis)] = of;
    blocks[static_cast<std::size_t>(axis)] = in == 0 ? 1 : in;
  }
  if (!isIndexed) {
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      if (!isIn(numbers.getOffsetDims(), axis)) {
        extents[axis] = 1;
        blocks[axis] = move.wholeBlock(axis);
      }
    result.scales = shapes.reshape(scales, extents, nullptr);
  } else {
    if (openShapeOf(scales) != llvm::ArrayRef(wide)) {
      const auto axes =
          llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(wide.size())));
      scales = shapes.broadcast(scales, axes, wide, [&](std::size_t axis) {
        return shapes.sizeOf(move.parts.elements, axis);
      });
    }
    const mlir::RankedTensorType type = openTypeOf(scales).clone(extents);
    const mlir::Value indices = move.op->getOperand(1);
    const auto isSorted = move.op->getAttrOfType<mlir::BoolAttr>("indices_are_sorted");
    if (mlir::ShapedType::isDynamicShape(slice))
      result.scales = make<stablehlo::DynamicGatherOp>(
          move.builder, move.location, type, scales, indices,
          shapes.shape(slice, [&](std::size_t axis) { return shapes.sizeAt(operand, axis); }),
          numbers, isSorted);
    else
      result.scales =
          make<stablehlo::GatherOp>(move.builder, move.location, type, scales, indices, numbers,
                                    move.builder.getDenseI64ArrayAttr(slice), isSorted);
  }
  result.block = blocks;
  return result;
}

/// An update of codes by codes of the same format, at indices that have scales of their own.
DequantizationTrace DequantizationTraces::updated(stablehlo::DynamicUpdateSliceOp update) {
  DequantizationTrace into = of(update.getOperand()), from = of(update.getUpdate());
  const auto *whole = std::get_if<Dequantized>(&into), *part = std::get_if<Dequantized>(&from);
  if (whole == nullptr || part == nullptr)
    return std::holds_alternative<Obstacle>(into) ? into
           : std::holds_alternative<Obstacle>(from)
               ? from
               : Obstacle{update, "writes codes and values of another kind into one tensor",
                          "quantize what is written to the same format"};
  const Obstacle differs{update, "writes values of another format or other blocks",
                         "quantize what is written to the same format and blocks"};
  const bool isShared = whole->scales && areSame(whole->scales, part->scales);
  if (whole->format != part->format || !whole->scales != !part->scales ||
      !areSame(whole->outer, part->outer) ||
      (whole->scales && elementFormatOf(whole->scales) != elementFormatOf(part->scales)))
    return differs;
  Move move(update, *whole);
  Dequantized result = *whole;
  result.elements =
      make<stablehlo::DynamicUpdateSliceOp>(move.builder, move.location, move.type, whole->elements,
                                            part->elements, update.getStartIndices());
  if (!whole->scales || (isShared && elementCount(openShapeOf(whole->scales)) == 1))
    return result;
  for (auto [axis, extent] : llvm::enumerate(openShapeOf(part->elements))) {
    const bool isAll = extent == move.to[axis] && !mlir::ShapedType::isDynamic(extent);
    const std::int64_t block = whole->block[axis];
    if (block != part->block[axis] || (!isAll && block != 1))
      return isAll || move.isWhole(axis) ? differs : move.cutsBlocks();
  }
  result.scales =
      make<stablehlo::DynamicUpdateSliceOp>(move.builder, move.location, whole->scales.getType(),
                                            whole->scales, part->scales, update.getStartIndices());
  return result;
}

} // namespace octavo::transforms
