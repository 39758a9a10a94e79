// Grids of scales: finds tensors with one value a block, and the scales that they hold.
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/ConversionChain.h"
#include "octavo/Transforms/Recover/DecodedCodes.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Recover/OnAllCodes.h"
#include "octavo/Transforms/Recover/ScaleExponents.h"
#include "octavo/Transforms/Recover/ScaledIntegers.h"
#include "octavo/Transforms/Shapes/OpenShapes.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::transforms {

/// Whether blocks that end within `axis` start anew at each index of the axes from `first` to it.
static bool repeats(llvm::ArrayRef<std::int64_t> shape, std::size_t first, std::size_t axis) {
  return llvm::any_of(shape.slice(first, axis - first),
                      [](std::int64_t each) { return each != 1; });
}

bool reshapeBlocks(llvm::ArrayRef<std::int64_t> from, llvm::ArrayRef<std::int64_t> fromBlock,
                   llvm::ArrayRef<std::int64_t> to, Extents& blocks) {
  if (llvm::is_contained(from, 0) || llvm::is_contained(to, 0))
    return false;
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
    // Number of consecutive elements of the group that one scale covers.
    std::int64_t run = 1;
    bool isInner = true; // all axes so far have one scale each
    for (std::size_t axis = i; axis-- > begin;) {
      const std::int64_t block = fromBlock[axis];
      if (isInner) {
        run *= block;
        isInner = block == from[axis];
        if (!isInner && from[axis] % block != 0 && repeats(from, begin, axis))
          return false;
      } else if (block != 1 && from[axis] != 1) {
        return false;
      }
    }
    std::int64_t rest = run;
    llvm::SmallVector<std::int64_t> groupBlocks;
    for (std::size_t axis = j; axis-- > target;) {
      const std::int64_t block = std::min(rest, to[axis]);
      if (rest > to[axis] ? rest % to[axis] != 0
                          : to[axis] % block != 0 && repeats(to, target, axis))
        return false;
      groupBlocks.push_back(block);
      rest = rest > to[axis] ? rest / to[axis] : 1;
    }
    llvm::append_range(blocks, llvm::reverse(groupBlocks));
  }
  return true;
}

namespace {

using mlir::ShapedType;

/// The largest numbers of leading axes of both shapes that are known and have equally many
/// elements.
std::pair<std::size_t, std::size_t> knownAxes(llvm::ArrayRef<std::int64_t> from,
                                              llvm::ArrayRef<std::int64_t> to) {
  std::pair<std::size_t, std::size_t> common;
  std::int64_t left = 1, right = 1;
  for (std::size_t i = 0, j = 0;;) {
    if (left == right)
      common = {i, j};
    const bool isLeft = left <= right && i < from.size();
    if (!isLeft && j == to.size())
      return common;
    const std::int64_t extent = isLeft ? from[i++] : to[j++];
    if (ShapedType::isDynamic(extent))
      return common;
    (isLeft ? left : right) *= extent;
  }
}

/// The axes of a reshape around its open extents. The known axes before and behind them have
/// equally many elements in both shapes, hence so have these, whatever the extents.
struct OpenAxes {
  std::size_t from, fromEnd, to, toEnd;
};

OpenAxes openAxes(llvm::ArrayRef<std::int64_t> from, llvm::ArrayRef<std::int64_t> to) {
  const auto [left, right] = knownAxes(from, to);
  const Extents backFrom(llvm::reverse(from.drop_front(left))),
      backTo(llvm::reverse(to.drop_front(right)));
  const auto [leftEnd, rightEnd] = knownAxes(backFrom, backTo);
  return {left, from.size() - leftEnd, right, to.size() - rightEnd};
}

/// Whether all axes have one scale; whether all have one for each index; and whether axes with one
/// scale come behind the others, so that a scale covers consecutive elements.
struct ScalesOfAxes {
  bool haveOne = true, haveEach = true, areRuns = true;

  ScalesOfAxes(llvm::ArrayRef<std::int64_t> extents, llvm::ArrayRef<std::int64_t> blocks) {
    bool hasRun = false;
    for (auto [extent, block] : llvm::zip_equal(extents, blocks)) {
      const bool isOne = block == extent, isEach = block == 1 || extent == 1;
      areRuns = areRuns && (isOne || (isEach && !hasRun));
      hasRun = hasRun || (isOne && !isEach);
      haveOne = haveOne && isOne;
      haveEach = haveEach && isEach;
    }
  }
};

/// reshapeBlocks with open extents: the open axes must have one scale for each index, or one for
/// all.
bool reshapeOpenBlocks(llvm::ArrayRef<std::int64_t> from, llvm::ArrayRef<std::int64_t> block,
                       llvm::ArrayRef<std::int64_t> to, const OpenAxes& open, Extents& blocks) {
  if (!reshapeBlocks(from.take_front(open.from), block.take_front(open.from),
                     to.take_front(open.to), blocks))
    return false;
  const std::size_t count = open.fromEnd - open.from;
  const ScalesOfAxes scales(from.slice(open.from, count), block.slice(open.from, count));
  const auto opened = to.slice(open.to, open.toEnd - open.to);
  if (scales.haveOne)
    llvm::append_range(blocks, opened);
  else if (scales.haveEach)
    blocks.append(opened.size(), 1);
  else
    return false;
  return reshapeBlocks(from.drop_front(open.fromEnd), block.drop_front(open.fromEnd),
                       to.drop_front(open.toEnd), blocks);
}

} // namespace

/// Repeats scales so that axes `first` to `end`, of which the last have one scale for all indices,
/// have one for each.
DequantizationTraces::Grid DequantizationTraces::repeated(OpenShapes& shapes, const Grid& grid,
                                                          mlir::Value from, std::size_t first,
                                                          std::size_t end) {
  const Extents shape(openShapeOf(from));
  Grid result = grid;
  Extents extents(openShapeOf(grid.value));
  for (std::size_t axis = first; axis < end; ++axis) {
    extents[axis] = shape[axis];
    result.block[axis] = 1;
  }
  const auto axes =
      llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(shape.size())));
  result.value = shapes.broadcast(grid.value, axes, extents, [&](std::size_t axis) {
    return shapes.sizeOf(axis < first || axis >= end ? grid.value : from, axis);
  });
  return result;
}

/// The grid of a reshape's result from its operand's. Open axes, if the last of them have one scale
/// for all indices, get one for each.
std::optional<DequantizationTraces::Grid> DequantizationTraces::reshaped(mlir::OpBuilder& builder,
                                                                         mlir::Operation* op,
                                                                         const Grid& grid,
                                                                         mlir::Value from) {
  const auto shape = openShapeOf(from), to = openShapeOf(op->getResult(0));
  const mlir::Value operand = shapeOperand(op);
  OpenShapes shapes(builder, op->getLoc(), made);
  Grid given = grid;
  Extents extents, blocks;
  if (ShapedType::isDynamicShape(shape) || ShapedType::isDynamicShape(to)) {
    if (!operand || llvm::is_contained(shape, 0) || llvm::is_contained(to, 0))
      return {};
    const OpenAxes open = openAxes(shape, to);
    const std::size_t count = open.fromEnd - open.from;
    const ScalesOfAxes scales(shape.slice(open.from, count),
                              llvm::ArrayRef(grid.block).slice(open.from, count));
    if (scales.areRuns && !scales.haveOne && !scales.haveEach)
      given = repeated(shapes, grid, from, open.from, open.fromEnd);
    if (!reshapeOpenBlocks(shape, given.block, to, open, blocks))
      return {};
  } else if (!reshapeBlocks(shape, grid.block, to, blocks)) {
    return {};
  }
  for (auto [extent, block] : llvm::zip_equal(to, blocks))
    extents.push_back(extent == block                 ? 1
                      : ShapedType::isDynamic(extent) ? extent
                                                      : (extent + block - 1) / block);
  if (elementCount(extents) != elementCount(openShapeOf(given.value)))
    return {};
  return Grid{shapes.reshape(given.value, extents,
                             [&](std::size_t axis) { return shapes.sizeAt(operand, axis); }),
              blocks};
}

/// The grid of a broadcast's result from its operand's. If an axis is open on either side, the
/// operand's extent is 1 or the result's; with a scale for each index, the scales are broadcast
/// alike.
std::optional<DequantizationTraces::Grid> DequantizationTraces::broadcast(mlir::OpBuilder& builder,
                                                                          mlir::Operation* op,
                                                                          const Grid& grid,
                                                                          mlir::Value from) {
  const auto shape = openShapeOf(from), to = openShapeOf(op->getResult(0));
  const auto axes = op->getAttrOfType<mlir::DenseI64ArrayAttr>("broadcast_dimensions").asArrayRef();
  const mlir::Value operand = shapeOperand(op);
  if (llvm::isa<stablehlo::DynamicBroadcastInDimOp>(op) && !operand)
    return {};
  Extents extents(to.size(), 1), block(to);
  for (auto [axis, target] : llvm::enumerate(axes)) {
    const auto at = static_cast<std::size_t>(target);
    const std::int64_t extent = openShapeOf(grid.value)[axis];
    if (ShapedType::isDynamic(shape[axis]) || ShapedType::isDynamic(to[at])) {
      if (extent == 1)
        continue;
      if (grid.block[axis] != 1)
        return {};
      extents[at] = to[at];
      block[at] = 1;
    } else if (shape[axis] == to[at]) {
      extents[at] = extent;
      block[at] = grid.block[axis];
    }
  }
  OpenShapes shapes(builder, op->getLoc(), made);
  return Grid{shapes.broadcast(grid.value, axes, extents,
                               [&](std::size_t axis) { return shapes.sizeAt(operand, axis); }),
              block};
}

/// The grid of a slice's result from its operand's. The slice takes whole blocks; the last may be
/// cut.
std::optional<DequantizationTraces::Grid>
DequantizationTraces::sliced(mlir::OpBuilder& builder, stablehlo::SliceOp slice, const Grid& grid) {
  const auto to = openShapeOf(slice.getResult()), extents = openShapeOf(grid.value);
  Extents starts, limits, strides, shape, block;
  for (const auto [axis, each] : llvm::enumerate(grid.block)) {
    const std::int64_t start = slice.getStartIndices()[axis], limit = slice.getLimitIndices()[axis],
                       stride = slice.getStrides()[axis];
    if (extents[axis] == 1) {
      starts.push_back(0);
      limits.push_back(1);
      strides.push_back(1);
      block.push_back(std::max<std::int64_t>(to[axis], 1));
    } else if (each == 1 || (stride == 1 && start % each == 0)) {
      starts.push_back(start / each);
      limits.push_back((limit + each - 1) / each);
      strides.push_back(stride);
      block.push_back(std::min(each, std::max<std::int64_t>(to[axis], 1)));
    } else {
      return {};
    }
    shape.push_back((limits.back() - starts.back() + strides.back() - 1) / strides.back());
  }
  return Grid{make<stablehlo::SliceOp>(builder, slice.getLoc(), openTypeOf(grid.value).clone(shape),
                                       grid.value, starts, limits, strides),
              block};
}

/// An elementwise operation on grids, applied to their values. The operands have the same blocks or
/// are one number.
std::optional<DequantizationTraces::Grid> DequantizationTraces::computed(mlir::Operation* op) {
  const mlir::Value result = op->getResult(0);
  const format::ElementFormat *from = elementFormatOf(op->getOperand(0)),
                              *to = elementFormatOf(result);
  if (llvm::isa<stablehlo::ConvertOp>(op) && from != nullptr && to != nullptr &&
      numerics::holdsFiniteValues(*to, *from))
    return gridOf(op->getOperand(0));
  llvm::SmallVector<std::optional<Grid>> grids;
  const Grid* common = nullptr;
  if (!llvm::all_of(op->getOperands(),
                    [](mlir::Value each) { return openTypeOf(each) != nullptr; }))
    return {};
  for (mlir::Value operand : op->getOperands()) // select and clamp take scalars for tensors
    grids.push_back(openShapeOf(operand).size() == openShapeOf(result).size()
                        ? gridOf(operand)
                        : std::optional(Grid{operand, {}}));
  for (const std::optional<Grid>& grid : grids) {
    if (!grid)
      return {};
    if (grid->block.empty() || elementCount(openShapeOf(grid->value)) == 1)
      continue;
    if (common != nullptr && common->block != grid->block)
      return {};
    common = &*grid;
  }
  if (common == nullptr)
    common = &*grids.front();
  const Extents extents(openShapeOf(common->value)), block = common->block;
  if (block.empty() || llvm::all_of(block, [](std::int64_t each) { return each == 1; }))
    return {};
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  llvm::SmallVector<mlir::Value> operands;
  for (const auto& [grid, operand] : llvm::zip_equal(grids, op->getOperands())) {
    mlir::Value value = grid->value;
    const mlir::Type element = mlir::getElementTypeOrSelf(operand.getType());
    if (mlir::getElementTypeOrSelf(value.getType()) !=
        element) // scales that a convert only widened
      value = make<stablehlo::ConvertOp>(builder, op->getLoc(), openTypeOf(value).clone(element),
                                         value);
    if (!grid->block.empty() && openShapeOf(value) != llvm::ArrayRef(extents)) {
      if (elementCount(openShapeOf(value)) != 1)
        return {};
      OpenShapes shapes(builder, op->getLoc(), made);
      value =
          shapes.broadcast(scalar(builder, op->getLoc(), value), {}, extents,
                           [&](std::size_t axis) { return shapes.sizeOf(common->value, axis); });
    }
    operands.push_back(value);
  }
  mlir::Operation* compact = builder.clone(*op);
  compact->setOperands(operands);
  compact->getResult(0).setType(openTypeOf(result).clone(extents));
  made.push_back(compact);
  return Grid{compact->getResult(0), block};
}

/// A number before conversions that kept its value.
static mlir::Value numberBeforeWidening(mlir::Value number) {
  while (auto convert = number.getDefiningOp<stablehlo::ConvertOp>()) {
    const format::ElementFormat *from = elementFormatOf(convert.getOperand()),
                                *to = elementFormatOf(number);
    if (from == nullptr || to == nullptr || !numerics::holdsFiniteValues(*to, *from))
      break;
    number = convert.getOperand();
  }
  return number;
}

/// The initial value of a carried value that the loop never changes; else null.
static mlir::Value carriedUnchanged(mlir::Value value) {
  auto loop = llvm::dyn_cast_or_null<stablehlo::WhileOp>(
      value.getDefiningOp() != nullptr ? value.getDefiningOp()
                                       : value.getParentBlock()->getParentOp());
  if (!loop)
    return {};
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  const unsigned number =
      argument ? argument.getArgNumber() : llvm::cast<mlir::OpResult>(value).getResultNumber();
  mlir::Block& body = loop.getBody().front();
  return body.getTerminator()->getOperand(number) == body.getArgument(number)
             ? loop->getOperand(number)
             : mlir::Value();
}

/// The values whose grids decide the grid of `value`.
static llvm::SmallVector<mlir::Value> sourcesOfGrid(mlir::Value value) {
  const mlir::RankedTensorType type = openTypeOf(value);
  if (!type)
    return {};
  if (mlir::Value before = carriedUnchanged(value))
    return {before};
  mlir::Operation* op = value.getDefiningOp();
  if (type.getRank() == 0 || op == nullptr)
    return {};
  if (llvm::isa<stablehlo::OptimizationBarrierOp>(op))
    return {op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber())};
  if (isMove(op) || llvm::isa<stablehlo::SliceOp>(op) || laysOut(op))
    return {op->getOperand(0)};
  if (!isComputedPerElement(op))
    return {};
  llvm::SmallVector<mlir::Value> sources;
  for (mlir::Value operand : op->getOperands())
    if (openTypeOf(operand) && openTypeOf(operand).getRank() == type.getRank())
      sources.push_back(operand);
  return sources;
}

/// Iterative, with a list of pending values: programs are longer than a stack is deep.
std::optional<DequantizationTraces::Grid> DequantizationTraces::gridOf(mlir::Value value) {
  llvm::SmallVector<mlir::Value> pending = {value};
  while (!pending.empty()) {
    const mlir::Value next = pending.back();
    if (grids.contains(next)) {
      pending.pop_back();
      continue;
    }
    const std::size_t before = pending.size();
    for (mlir::Value each : sourcesOfGrid(next))
      if (!grids.contains(each))
        pending.push_back(each);
    if (pending.size() != before)
      continue;
    pending.pop_back();
    std::optional<Grid> grid = findGrid(next);
    grids[next] = std::move(grid);
  }
  return grids.find(value)->second;
}

std::optional<DequantizationTraces::Grid> DequantizationTraces::findGrid(mlir::Value value) {
  const mlir::RankedTensorType type = openTypeOf(value);
  mlir::Operation* op = value.getDefiningOp();
  if (!type)
    return {};
  const Grid each{value, Extents(type.getShape().size(), 1)};
  if (mlir::Value before = carriedUnchanged(value))
    return gridOf(before);
  if (type.getRank() == 0)
    return Grid{canBeScale(value) ? value : numberBeforeWidening(value), {}};
  if (op == nullptr)
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
  const bool isBroadcast =
      llvm::isa<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(op);
  if (isBroadcast || llvm::isa<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op)) {
    const mlir::Value operand = op->getOperand(0);
    const std::optional<Grid> inner = gridOf(operand);
    if (!inner)
      return {};
    return (isBroadcast ? broadcast(builder, op, *inner, operand)
                        : reshaped(builder, op, *inner, operand))
        .value_or(each);
  }
  if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
    const std::optional<Grid> inner = gridOf(transpose.getOperand());
    if (!inner)
      return {};
    Extents extents, block;
    for (std::int64_t axis : transpose.getPermutation()) {
      extents.push_back(openShapeOf(inner->value)[static_cast<std::size_t>(axis)]);
      block.push_back(inner->block[static_cast<std::size_t>(axis)]);
    }
    return Grid{make<stablehlo::TransposeOp>(builder, location,
                                             openTypeOf(inner->value).clone(extents), inner->value,
                                             transpose.getPermutation()),
                block};
  }
  if (auto slice = llvm::dyn_cast<stablehlo::SliceOp>(op)) {
    const std::optional<Grid> inner = gridOf(slice.getOperand());
    return inner ? sliced(builder, slice, *inner).value_or(each) : each;
  }
  if (isComputedPerElement(op))
    return computed(op).value_or(each);
  if (laysOut(op)) {
    std::optional<Grid> inner = gridOf(op->getOperand(0));
    if (inner)
      inner->value = laidOutAs(op, inner->value);
    return inner;
  }
  if (llvm::isa<stablehlo::OptimizationBarrierOp>(op))
    return gridOf(op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
  return each;
}

/// Repeats `moves` on `value`, the last one first.
mlir::Value DequantizationTraces::movedBy(llvm::ArrayRef<mlir::Operation*> moves,
                                          mlir::OpBuilder& builder, mlir::Value value) {
  for (mlir::Operation* move : llvm::reverse(moves)) {
    mlir::Operation* same = builder.clone(*move);
    same->setOperand(0, value);
    same->getResult(0).setType(
        openTypeOf(move->getResult(0)).clone(openTypeOf(value).getElementType()));
    made.push_back(same);
    value = same->getResult(0);
  }
  return value;
}

/// Exponent codes as E8M0: `codes`, or for reciprocals 254 - code, which makes 255 (NaN) of 255.
mlir::Value DequantizationTraces::asE8m0(mlir::OpBuilder& builder, mlir::Location location,
                                         mlir::Value codes, bool isReciprocal) {
  const mlir::Type e8m0 = mlirType(builder.getContext(), format::element("e8m0fnu")),
                   integer = builder.getIntegerType(8, false);
  const auto as = [&](mlir::Value value, mlir::Type element) -> mlir::Value {
    const mlir::RankedTensorType type = openTypeOf(value).clone(element);
    return type == value.getType()
               ? value
               : make<stablehlo::BitcastConvertOp>(builder, location, type, value);
  };
  if (isReciprocal) {
    codes = as(codes, integer);
    const mlir::Value most =
        filled(builder, location, builder.getIntegerAttr(integer, 254), integer, codes);
    codes = make<stablehlo::SubtractOp>(builder, location, most, codes);
  }
  return as(codes, e8m0);
}

/// The scales as E8M0 if they are computed from exponent codes; else unchanged.
mlir::Value DequantizationTraces::asE8m0(mlir::OpBuilder& builder, mlir::Location location,
                                         mlir::Value scales, Dequantized& noted) {
  const std::optional<Exponents> exponents = exponentsOf(scales);
  if (!exponents)
    return scales;
  addNote(noted.note, exponents->difference);
  return movedBy(exponents->moves, builder,
                 asE8m0(builder, location, exponents->codes, exponents->isReciprocal));
}

/// 1 / scale: E8M0 of E8M0, else f32.
mlir::Value DequantizationTraces::inverse(mlir::OpBuilder& builder, mlir::Location location,
                                          mlir::Value scales) {
  if (llvm::isa<mlir::Float8E8M0FNUType>(openTypeOf(scales).getElementType()))
    return asE8m0(builder, location, scales, true);
  if (const std::optional<double> number = splatNumber(scales);
      number && isPowerOfTwo(*number) && isPowerOfTwo(static_cast<float>(1 / *number)))
    return filled(builder, location, builder.getF32FloatAttr(static_cast<float>(1 / *number)),
                  builder.getF32Type(), scales);
  const mlir::Value wide = toF32(builder, location, scales);
  const mlir::Value one =
      filled(builder, location, builder.getF32FloatAttr(1), builder.getF32Type(), wide);
  return make<stablehlo::DivOp>(builder, location, one, wide);
}

/// The parts of a value that arithmetic decodes from codes.
std::optional<Dequantized> DequantizationTraces::decoded(mlir::Value value) {
  const std::optional<DecodedCodes> found = decodedCodes(value);
  if (!found)
    return {};
  mlir::OpBuilder builder(value.getDefiningOp());
  const mlir::RankedTensorType type =
      openTypeOf(found->codes).clone(codesType(builder.getContext(), *found->format));
  const mlir::Value codes =
      type == found->codes.getType()
          ? found->codes
          : make<stablehlo::BitcastConvertOp>(builder, value.getLoc(), type, found->codes);
  return Dequantized{.elements = movedBy(found->moves, builder, codes), .format = found->format};
}

/// The parts of elements to whose exponents integers are added, as by ldexp.
std::optional<Dequantized> DequantizationTraces::scaledByExponents(mlir::Operation* op) {
  llvm::SetVector<mlir::Value> below;
  llvm::SmallVector<mlir::Value> leaves;
  mlir::Value elements;
  below.insert(op->operand_begin(), op->operand_end());
  for (std::size_t i = 0; i < below.size(); ++i) {
    if (i == kMostDecodingOperations)
      return {};
    const mlir::Value value = below[i];
    mlir::Operation* maker = value.getDefiningOp();
    if (!comesFromNarrow(value))
      continue;
    if (!isCodes(value) && maker != nullptr && isComputedPerElement(maker)) {
      below.insert(maker->operand_begin(), maker->operand_end());
      continue;
    }
    const DequantizationTrace origin = openTypeOf(value) ? of(value) : DequantizationTrace();
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (parts == nullptr || parts->scales || !isCodes(parts->elements) ||
        (elements && !areSame(elements, parts->elements)))
      return {};
    elements = parts->elements;
    leaves.push_back(value);
  }
  if (!elements || openShapeOf(elements) != openShapeOf(op->getResult(0)))
    return {};
  const std::optional<Exponents> exponents = exponentsOf(op->getResult(0), elements, leaves);
  if (!exponents)
    return {};
  mlir::OpBuilder builder(op);
  const std::optional<Grid> grid =
      gridOf(movedBy(exponents->moves, builder,
                     asE8m0(builder, op->getLoc(), exponents->codes, exponents->isReciprocal)));
  if (!grid || isForEach(openShapeOf(elements), grid->block))
    return {};
  return Dequantized{elements, grid->value, grid->block, {}, exponents->difference};
}

} // namespace octavo::transforms
