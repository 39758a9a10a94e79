// Grids of scales: which tensors are one value a block, and what they hold.
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/ConversionChain.h"
#include "octavo/Transforms/ScaleExponents.h"
#include "octavo/Transforms/ScaledOrigin.h"
#include "octavo/Transforms/TensorFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::transforms {

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
  if (elementCount(extents) != elementCount(shapeOf(grid.value)))
    return {};
  return Grid{withShape(builder, location, grid.value, extents), blocks};
}

/// An operation on grids, done to their values: these have one block, or are one number.
std::optional<ScaledOrigins::Grid> ScaledOrigins::computed(mlir::Operation* op) {
  const mlir::Value result = op->getResult(0);
  const format::ElementFormat *from = elementFormatOf(op->getOperand(0)),
                              *to = elementFormatOf(result);
  if (llvm::isa<stablehlo::ConvertOp>(op) && from != nullptr && to != nullptr &&
      numerics::holdsFiniteValues(*to, *from))
    return gridOf(op->getOperand(0));
  llvm::SmallVector<std::optional<Grid>> grids;
  const Grid* common = nullptr;
  if (!llvm::all_of(op->getOperands(), [](mlir::Value each) { return typeOf(each) != nullptr; }))
    return {};
  for (mlir::Value operand : op->getOperands())
    grids.push_back(shapeOf(operand) == shapeOf(result) ? gridOf(operand)
                                                        : std::optional(Grid{operand, {}}));
  for (const std::optional<Grid>& grid : grids) {
    if (!grid)
      return {};
    if (grid->block.empty() || elementCount(shapeOf(grid->value)) == 1)
      continue;
    if (common != nullptr && common->block != grid->block)
      return {};
    common = &*grid;
  }
  if (common == nullptr)
    common = &*grids.front();
  const Extents extents(shapeOf(common->value)), block = common->block;
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
      value =
          make<stablehlo::ConvertOp>(builder, op->getLoc(), typeOf(value).clone(element), value);
    if (!grid->block.empty() && shapeOf(value) != llvm::ArrayRef(extents))
      value = make<stablehlo::BroadcastInDimOp>(builder, op->getLoc(), typeOf(value).clone(extents),
                                                withShape(builder, op->getLoc(), value, {}),
                                                llvm::ArrayRef<std::int64_t>());
    operands.push_back(value);
  }
  mlir::Operation* compact = builder.clone(*op);
  compact->setOperands(operands);
  compact->getResult(0).setType(typeOf(result).clone(extents));
  made.push_back(compact);
  return Grid{compact->getResult(0), block};
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
  if (isComputedPerElement(op))
    return computed(op).value_or(each);
  if (llvm::isa<stablehlo::OptimizationBarrierOp>(op))
    return gridOf(op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
  return each;
}

/// Another value moved as one is: the first of the moves is the last.
mlir::Value ScaledOrigins::movedBy(llvm::ArrayRef<mlir::Operation*> moves, mlir::OpBuilder& builder,
                                   mlir::Value value) {
  for (mlir::Operation* move : llvm::reverse(moves)) {
    mlir::Operation* same = builder.clone(*move);
    same->setOperand(0, value);
    same->getResult(0).setType(typeOf(move->getResult(0)).clone(typeOf(value).getElementType()));
    made.push_back(same);
    value = same->getResult(0);
  }
  return value;
}

/// Codes of exponents as E8M0; 254 - code of reciprocals, which is NaN's 255 of 255.
mlir::Value ScaledOrigins::asE8m0(mlir::OpBuilder& builder, mlir::Location location,
                                  mlir::Value codes, bool isReciprocal) {
  const mlir::Type e8m0 = mlirType(builder.getContext(), format::element("e8m0fnu")),
                   integer = builder.getIntegerType(8, false);
  const auto as = [&](mlir::Value value, mlir::Type element) -> mlir::Value {
    const mlir::RankedTensorType type = typeOf(value).clone(element);
    return type == value.getType()
               ? value
               : make<stablehlo::BitcastConvertOp>(builder, location, type, value);
  };
  if (isReciprocal) {
    codes = as(codes, integer);
    const mlir::Value most = make<stablehlo::ConstantOp>(
        builder, location, mlir::DenseElementsAttr::get(typeOf(codes), llvm::APInt(8, 254)));
    codes = make<stablehlo::SubtractOp>(builder, location, most, codes);
  }
  return as(codes, e8m0);
}

/// The scales as E8M0 where they are computed from codes of its exponents; else as they are.
mlir::Value ScaledOrigins::asE8m0(mlir::OpBuilder& builder, mlir::Location location,
                                  mlir::Value scales, std::string& note) {
  const std::optional<Exponents> exponents = exponentsOf(scales);
  if (!exponents)
    return scales;
  note = exponents->difference;
  return movedBy(exponents->moves, builder,
                 asE8m0(builder, location, exponents->codes, exponents->isReciprocal));
}

/// One over each scale: of E8M0 E8M0, else f32.
mlir::Value ScaledOrigins::inverse(mlir::OpBuilder& builder, mlir::Location location,
                                   mlir::Value scales) {
  if (llvm::isa<mlir::Float8E8M0FNUType>(typeOf(scales).getElementType()))
    return asE8m0(builder, location, scales, true);
  const mlir::Value wide = toF32(builder, location, scales);
  const mlir::Value one = make<stablehlo::ConstantOp>(
      builder, location, mlir::DenseElementsAttr::get(typeOf(wide), 1.0F));
  return make<stablehlo::DivOp>(builder, location, one, wide);
}

/// Elements that integers are added to the exponents of, as by ldexp.
std::optional<Dequantized> ScaledOrigins::scaledByExponents(mlir::Operation* op) {
  llvm::SetVector<mlir::Value> below;
  llvm::SmallVector<mlir::Value> leaves;
  mlir::Value elements;
  below.insert(op->operand_begin(), op->operand_end());
  for (std::size_t i = 0; i < below.size(); ++i) {
    const mlir::Value value = below[i];
    mlir::Operation* maker = value.getDefiningOp();
    if (!comesFromNarrow(value))
      continue;
    if (!isCodes(value) && maker != nullptr && isComputedPerElement(maker)) {
      below.insert(maker->operand_begin(), maker->operand_end());
      continue;
    }
    const ScaledOrigin origin = typeOf(value) ? of(value) : ScaledOrigin();
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (parts == nullptr || parts->scales || (elements && !areSame(elements, parts->elements)))
      return {};
    elements = parts->elements;
    leaves.push_back(value);
  }
  if (!elements || shapeOf(elements) != shapeOf(op->getResult(0)))
    return {};
  const std::optional<Exponents> exponents = exponentsOf(op->getResult(0), elements, leaves);
  if (!exponents)
    return {};
  mlir::OpBuilder builder(op);
  const std::optional<Grid> grid =
      gridOf(movedBy(exponents->moves, builder,
                     asE8m0(builder, op->getLoc(), exponents->codes, exponents->isReciprocal)));
  if (!grid || elementCount(shapeOf(grid->value)) == elementCount(shapeOf(elements)))
    return {};
  return Dequantized{elements, grid->value, grid->block, {}, exponents->difference};
}

} // namespace octavo::transforms
