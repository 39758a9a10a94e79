#include "octavo/Transforms/Quantize/MovedWeights.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"
#include "octavo/Transforms/Walks/WeightTrace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::transforms {

namespace {

/// Whether an operation keeps its operand's values at their indices, though perhaps in another
/// type.
bool keepsPlaces(mlir::Operation* op) {
  auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op);
  return laysOut(op) || llvm::isa<stablehlo::OptimizationBarrierOp>(op) ||
         (convert && losesNothing(convert));
}

/// Whether an operation is a reshape, or a broadcast that repeats nothing.
bool isReshape(mlir::Operation* op) {
  auto broadcast = llvm::dyn_cast<stablehlo::BroadcastInDimOp>(op);
  return llvm::isa<stablehlo::ReshapeOp>(op) ||
         (broadcast && llvm::is_sorted(broadcast.getBroadcastDimensions()) &&
          elementCount(shapeOf(broadcast.getOperand())) == elementCount(shapeOf(broadcast)));
}

/// Whether slicing keeps blocks whole: `takes(axis, block)` decides for each sliced axis with
/// blocks.
bool sliceBlocks(llvm::ArrayRef<std::int64_t> from, llvm::ArrayRef<std::int64_t> to,
                 llvm::ArrayRef<std::int64_t> block,
                 llvm::function_ref<bool(std::size_t axis, std::int64_t block)> takes) {
  return llvm::all_of(llvm::seq<std::size_t>(0, from.size()), [&](std::size_t axis) {
    return from[axis] == to[axis] || block[axis] == 1 || takes(axis, block[axis]);
  });
}

/// The blocks of a gather's operand from those of its result: single indices on the axes that the
/// gather's indices choose from. False if there are none.
bool gatherBlocks(stablehlo::GatherOp gather, llvm::ArrayRef<std::int64_t> shape,
                  llvm::ArrayRef<std::int64_t> after, Extents& block) {
  const stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> offsets = numbers.getOffsetDims();
  block.assign(shape.size(), 1);
  std::size_t offset = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto number = static_cast<std::int64_t>(axis);
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), number) ||
        llvm::is_contained(numbers.getOperandBatchingDims(), number)) {
      if (shape[axis] == 1) // a single block for all slices
        return false;
      continue;
    }
    block[axis] = after[static_cast<std::size_t>(offsets[offset++])];
    if (gather.getSliceSizes()[axis] != shape[axis] && block[axis] != 1)
      return false;
  }
  return llvm::all_of(llvm::enumerate(after), [&](const auto& each) {
    return each.value() == 1 ||
           llvm::is_contained(offsets, static_cast<std::int64_t>(each.index()));
  });
}

/// The blocks of an operand of `shape` from those of the result; false if there are none.
bool blocksBefore(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape, ir::ScaledType after,
                  Extents& block) {
  block.assign(after.getBlock().begin(), after.getBlock().end());
  if (keepsPlaces(op))
    return true;
  if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
    for (const auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      block[static_cast<std::size_t>(from)] = after.getBlock()[to];
    return true;
  }
  if (isReshape(op)) {
    block.clear();
    return reshapeBlocks(after.getShape(), after.getBlock(), shape, block);
  }
  if (auto slice = llvm::dyn_cast<stablehlo::SliceOp>(op))
    return sliceBlocks(shape, after.getShape(), block, [&](std::size_t axis, std::int64_t extent) {
      const std::int64_t limit = slice.getLimitIndices()[axis];
      return slice.getStrides()[axis] == 1 && slice.getStartIndices()[axis] % extent == 0 &&
             (limit % extent == 0 || limit == shape[axis]);
    });
  if (auto reverse = llvm::dyn_cast<stablehlo::ReverseOp>(op))
    return llvm::all_of(reverse.getDimensions(), [&](std::int64_t axis) {
      const auto at = static_cast<std::size_t>(axis);
      return shape[at] % block[at] == 0;
    });
  if (auto gather = llvm::dyn_cast<stablehlo::GatherOp>(op))
    return gatherBlocks(gather, shape, after.getBlock(), block);
  return llvm::isa<stablehlo::DynamicSliceOp>(op) &&
         sliceBlocks(shape, after.getShape(), block,
                     [](std::size_t, std::int64_t) { return false; });
}

bool canMove(mlir::Operation* op) {
  return keepsPlaces(op) || isReshape(op) ||
         llvm::isa<stablehlo::TransposeOp, stablehlo::SliceOp, stablehlo::DynamicSliceOp,
                   stablehlo::GatherOp, stablehlo::ReverseOp>(op);
}

/// The operand, and so the result, of a data movement that `value` is.
unsigned placeOf(mlir::Operation* op, mlir::Value value) {
  return llvm::isa<stablehlo::OptimizationBarrierOp>(op)
             ? static_cast<unsigned>(llvm::find(op->getOperands(), value) - op->operand_begin())
             : 0;
}

} // namespace

tl::expected<ir::ScaledType, std::string> typeBefore(llvm::ArrayRef<mlir::Operation*> movement,
                                                     ir::ScaledType operand) {
  ir::ScaledType type = operand;
  for (mlir::Operation* op : movement) {
    const std::string through = "it is reached through " + op->getName().getStringRef().str();
    const mlir::RankedTensorType given = typeOf(op->getOperand(0));
    if (!given || !type.hasStaticShape() || !canMove(op))
      return tl::make_unexpected(through);
    const llvm::ArrayRef<std::int64_t> shape =
        keepsPlaces(op) ? llvm::ArrayRef(type.getShape()) : given.getShape();
    if (type.getHasOuterScale() &&
        (llvm::isa<stablehlo::GatherOp>(op) || elementCount(shape) != type.getNumElements()))
      return tl::make_unexpected(through + ", and what that takes has an outer scale of its own");
    Extents block;
    if (!blocksBefore(op, shape, type, block))
      return tl::make_unexpected(through + ", which cuts blocks or takes parts of them");
    type = ir::ScaledType::get(type.getContext(), shape, type.getElement(), type.getScale(), block,
                               type.getHasOuterScale());
  }
  return type;
}

tl::expected<ir::ScaledType, std::string>
typeBefore(const MergedAxes& merged, llvm::ArrayRef<std::int64_t> shape, ir::ScaledType operand) {
  Extents ordered = permuted(shape, merged.order), orderedBlock, block(shape.size());
  if (!reshapeBlocks(operand.getShape(), operand.getBlock(), ordered, orderedBlock))
    return tl::make_unexpected("its dot contracts several axes, which are merged, and blocks would "
                               "lie across them");
  for (const auto [to, from] : llvm::enumerate(merged.order))
    block[static_cast<std::size_t>(from)] = orderedBlock[to];
  return ir::ScaledType::get(operand.getContext(), shape, operand.getElement(), operand.getScale(),
                             block, operand.getHasOuterScale());
}

/// A wide stand-in for a root, on which the movement of its codes and scales is traced.
mlir::Value MovedWeights::wideRoot(mlir::Value root, mlir::Value scaled) {
  mlir::Value& values = wide[root];
  if (values)
    return values;
  const auto type = llvm::cast<ir::ScaledType>(scaled.getType());
  mlir::OpBuilder builder(scaled.getContext());
  builder.setInsertionPointAfterValue(scaled);
  auto dequantized = ir::DequantizeOp::create(
      builder, scaled.getLoc(), mlir::RankedTensorType::get(type.getShape(), builder.getF32Type()),
      scaled);
  shown.push_back(dequantized);
  Dequantized parts{
      .elements = {}, .block = Extents(type.getBlock()), .format = &*type.getElement()};
  if (auto pack = scaled.getDefiningOp<ir::PackOp>()) {
    parts.elements = pack.getElements();
    parts.scales = pack.getScales();
    parts.outer = pack.getOuter();
  } else {
    auto unpack = ir::UnpackOp::create(builder, scaled.getLoc(), scaled);
    parts.elements = unpack.getElements();
    parts.scales = unpack.getScales();
    parts.outer = unpack.getOuter();
  }
  origins.take(dequantized, std::move(parts));
  return values = dequantized;
}

mlir::Value MovedWeights::at(mlir::OpBuilder& builder, mlir::Location location, mlir::Value root,
                             mlir::Value scaled, llvm::ArrayRef<mlir::Operation*> movement,
                             const MergedAxes* merged, ir::ScaledType type) {
  mlir::Value value = root, values = wideRoot(root, scaled);
  for (mlir::Operation* op : llvm::reverse(movement)) {
    value = op->getResult(placeOf(op, value));
    mlir::Value& moved = wide[value];
    if (!moved && !keepsPlaces(op)) {
      mlir::OpBuilder beside(op);
      mlir::Operation* same = beside.clone(*op);
      same->setOperand(0, values);
      same->getResult(0).setType(typeOf(value).clone(beside.getF32Type()));
      shown.push_back(same);
      moved = same->getResult(0);
    }
    values = moved ? moved : moved = values;
  }
  if (merged != nullptr) {
    const mlir::Value apart = values;
    values = applyMerge(builder, location, apart, *merged);
    const std::size_t last = shown.size();
    for (mlir::Value each = values; each != apart; each = each.getDefiningOp()->getOperand(0))
      shown.insert(shown.begin() + static_cast<std::ptrdiff_t>(last), each.getDefiningOp());
  }
  const auto parts = std::get<Dequantized>(origins.of(values));
  return ir::PackOp::create(builder, location, type, parts.elements, parts.scales, parts.outer);
}

void MovedWeights::finish() {
  for (mlir::Operation* op : llvm::reverse(shown))
    op->erase();
  shown.clear();
}

} // namespace octavo::transforms
