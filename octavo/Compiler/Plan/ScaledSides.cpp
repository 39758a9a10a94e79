#include "octavo/Compiler/Plan/ScaledSides.h"

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Plan/ScaledProducts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace octavo::compiler {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

} // namespace

mlir::Value reordered(mlir::OpBuilder& builder, mlir::Operation* op,
                      llvm::ArrayRef<std::int64_t> order) {
  const auto type = mlir::cast<ir::ScaledType>(op->getResult(0).getType());
  Axes shape, block;
  for (const std::int64_t axis : order) {
    shape.push_back(type.getShape()[static_cast<std::size_t>(axis)]);
    block.push_back(type.getBlock()[static_cast<std::size_t>(axis)]);
  }
  const auto moved = [&](mlir::Value value) {
    return value ? transposed(builder, value.getLoc(), value, order) : value;
  };
  const auto result = ir::ScaledType::get(op->getContext(), shape, type.getElement(),
                                          type.getScale(), block, type.getHasOuterScale());
  if (auto pack = mlir::dyn_cast<ir::PackOp>(op))
    return ir::PackOp::create(builder, op->getLoc(), result, moved(pack.getElements()),
                              moved(pack.getScales()), pack.getOuter());
  auto quantize = mlir::cast<ir::QuantizeOp>(op);
  return ir::QuantizeOp::create(builder, op->getLoc(), result, moved(quantize.getOperand()),
                                moved(quantize.getRandomBits()), quantize.getQuantization());
}

namespace {

/// Like reordered, for a scaled tensor that is unpacked first.
mlir::Value movedParts(mlir::OpBuilder& builder, mlir::Location location, mlir::Value side,
                       llvm::ArrayRef<std::int64_t> order) {
  const auto type = mlir::cast<ir::ScaledType>(side.getType());
  auto taken = ir::UnpackOp::create(builder, location, side);
  auto again = ir::PackOp::create(builder, location, type, taken.getElements(), taken.getScales(),
                                  taken.getOuter());
  const mlir::Value moved = reordered(builder, again, order);
  again.erase();
  return moved;
}

/// A copy of a quantization or packing with the axis `contracted`, and its blocks, moved to the
/// end.
mlir::Value contractedLast(mlir::Operation* op, std::int64_t contracted) {
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Axes order;
  const std::int64_t rank = mlir::cast<ir::ScaledType>(op->getResult(0).getType()).getRank();
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (axis != contracted)
      order.push_back(axis);
  order.push_back(contracted);
  return llvm::is_sorted(order) ? builder.clone(*op)->getResult(0) : reordered(builder, op, order);
}

/// Whether a side is quantized or packed in the block of the dot.
bool isMadeBeside(mlir::Operation* dot, mlir::Value side) {
  mlir::Operation* op = side.getDefiningOp();
  return llvm::isa_and_present<ir::QuantizeOp, ir::PackOp>(op) && op->getBlock() == dot->getBlock();
}

/// Whether a dot can take its left side as it is, or a copy would not help.
bool hasOwnLeftSide(ir::DotGeneralOp dot) {
  mlir::Operation* op = dot.getLhs().getDefiningOp();
  auto quantize = llvm::dyn_cast_if_present<ir::QuantizeOp>(op);
  if (!isMadeBeside(dot, dot.getLhs()))
    return true;
  if (quantize && !quantize.getRandomBits())
    return isPackedForProducts(quantize);
  return contractsLast(dot.getDotDimensionNumbers().getLhsContractingDimensions(),
                       mlir::cast<ir::ScaledType>(dot.getLhs().getType()).getRank());
}

/// The same for the right side. As a left side of other dots, it is packed by those.
bool hasOwnRightSide(ir::DotGeneralOp dot) {
  auto quantize = dot.getRhs().getDefiningOp<ir::QuantizeOp>();
  return !quantize || quantize->getBlock() != dot->getBlock() ||
         mlir::cast<ir::ScaledType>(dot.getRhs().getType()).getRank() != 2 ||
         dot.getDotDimensionNumbers().getRhsContractingDimensions().front() == 1;
}

/// The order of axes: batch, free, contracted.
Axes orderOf(std::int64_t rank, llvm::ArrayRef<std::int64_t> batching,
             llvm::ArrayRef<std::int64_t> contracting) {
  Axes order(batching);
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis))
      order.push_back(axis);
  order.append(contracting.begin(), contracting.end());
  return order;
}

/// A side with its axes in the order `order`.
mlir::Value inOrder(mlir::OpBuilder& builder, mlir::Operation* dot, mlir::Value side,
                    llvm::ArrayRef<std::int64_t> order) {
  if (!mlir::isa<ir::ScaledType>(side.getType()))
    return transposed(builder, dot->getLoc(), side, order);
  if (!isMadeBeside(dot, side))
    return movedParts(builder, dot->getLoc(), side, order);
  const mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(side.getDefiningOp());
  return reordered(builder, side.getDefiningOp(), order);
}

/// Reorders the sides of dots that contract one axis: batch axes first, and the contracted axis at
/// an end of each matrix.
void orderAxes(mlir::Block& block) {
  std::map<std::pair<const void*, Axes>, mlir::Value> made;
  llvm::SetVector<mlir::Operation*> replaced;
  for (auto dot : llvm::make_early_inc_range(block.getOps<ir::DotGeneralOp>())) {
    const auto numbers = dot.getDotDimensionNumbers();
    const auto isMovable = [&](mlir::Value side) {
      auto scaled = mlir::dyn_cast<ir::ScaledType>(side.getType());
      return !scaled || isMadeBeside(dot, side) || scaled.hasStaticShape();
    };
    if (numbers.getLhsContractingDimensions().size() != 1 ||
        !llvm::all_of(dot->getOperands(), isMovable))
      continue;
    const auto rankOf = [](mlir::Value side) {
      auto scaled = mlir::dyn_cast<ir::ScaledType>(side.getType());
      return scaled ? static_cast<std::int64_t>(scaled.getShape().size())
                    : mlir::cast<mlir::RankedTensorType>(side.getType()).getRank();
    };
    const auto batch = static_cast<std::int64_t>(numbers.getLhsBatchingDimensions().size());
    mlir::OpBuilder builder(dot);
    Axes contracting[2];
    const auto layOut = [&](mlir::OpOperand& side, llvm::ArrayRef<std::int64_t> batching,
                            llvm::ArrayRef<std::int64_t> contracted,
                            std::optional<std::int64_t> beginning) -> Axes {
      const std::int64_t rank = rankOf(side.get());
      const bool isAtEnd = contracted.front() == rank - 1 || contracted.front() == beginning;
      if (areFirst(batching) && isAtEnd)
        return Axes(contracted);
      Axes order = orderOf(rank, batching, contracted);
      mlir::Value& value = made[{side.get().getAsOpaquePointer(), order}];
      if (!value)
        value = inOrder(builder, dot, side.get(), order);
      if (mlir::Operation* before = side.get().getDefiningOp())
        replaced.insert(before);
      side.set(value);
      return {rank - 1};
    };
    const bool mayBeTurned = batch == 0 && isMadeBeside(dot, dot.getLhs());
    contracting[0] = layOut(dot->getOpOperand(0), numbers.getLhsBatchingDimensions(),
                            numbers.getLhsContractingDimensions(),
                            mayBeTurned ? std::optional(batch) : std::nullopt);
    contracting[1] =
        layOut(dot->getOpOperand(1), numbers.getRhsBatchingDimensions(),
               numbers.getRhsContractingDimensions(), static_cast<std::int64_t>(matrixAxes(dot)));
    Axes first(static_cast<std::size_t>(batch));
    std::iota(first.begin(), first.end(), 0);
    dot.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
        dot.getContext(), first, first, contracting[0], contracting[1]));
  }
  for (mlir::Operation* op : replaced)
    if (op->use_empty() && llvm::isa<ir::QuantizeOp, ir::PackOp>(op))
      op->erase();
}

} // namespace

void contractLeftLast(ir::DotGeneralOp dot) {
  const auto numbers = dot.getDotDimensionNumbers();
  const auto rank = static_cast<std::int64_t>(shapeOf(dot.getLhs()).size());
  if (numbers.getLhsContractingDimensions().size() != 1 ||
      contractsLast(numbers.getLhsContractingDimensions(), static_cast<std::size_t>(rank)))
    return;
  const Axes order =
      orderOf(rank, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
  mlir::OpBuilder builder(dot);
  dot.getLhsMutable().assign(transposed(builder, dot.getLoc(), dot.getLhs(), order));
  Axes batch(numbers.getLhsBatchingDimensions().size());
  std::iota(batch.begin(), batch.end(), 0);
  dot.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
      dot.getContext(), batch, numbers.getRhsBatchingDimensions(), {rank - 1},
      numbers.getRhsContractingDimensions()));
}

void layOutSides(mlir::Block& block) {
  orderAxes(block);
  // Sides that are multiplied by the same kind of weight share one packed copy.
  std::map<std::tuple<mlir::Operation*, std::int64_t, const void*, const void*>, mlir::Value> made;
  const auto own = [&](mlir::Value side, std::int64_t contracted, const void* element,
                       const void* scale) {
    mlir::Value& value = made[{side.getDefiningOp(), contracted, element, scale}];
    if (!value)
      value = contractedLast(side.getDefiningOp(), contracted);
    return value;
  };
  KnownPackings packings;
  const auto replace = [&](mlir::MutableOperandRange side, mlir::Value value) {
    packings.forget(side[0].get());
    packings.forget(value);
    side.assign(value);
  };
  for (auto dot : llvm::make_early_inc_range(block.getOps<ir::DotGeneralOp>())) {
    const auto numbers = dot.getDotDimensionNumbers();
    auto right = mlir::dyn_cast<ir::ScaledType>(dot.getRhs().getType());
    if (!right || !numbers.getLhsBatchingDimensions().empty() ||
        numbers.getLhsContractingDimensions().size() != 1)
      continue;
    std::int64_t left = numbers.getLhsContractingDimensions().front();
    if (!hasOwnLeftSide(dot)) {
      replace(dot.getLhsMutable(), own(dot.getLhs(), left, right.getElement(), right.getScale()));
      left = mlir::cast<ir::ScaledType>(dot.getLhs().getType()).getRank() - 1;
    }
    std::int64_t contracted = numbers.getRhsContractingDimensions().front();
    if (!hasOwnRightSide(dot)) {
      replace(dot.getRhsMutable(), own(dot.getRhs(), contracted, nullptr, nullptr));
      contracted = 1;
    }
    dot.setDotDimensionNumbersAttr(
        stablehlo::DotDimensionNumbersAttr::get(dot.getContext(), {}, {}, {left}, {contracted}));
  }
  llvm::SmallPtrSet<mlir::Operation*, 8> unused;
  for (const auto& [key, value] : made)
    if (mlir::Operation* op = std::get<0>(key); op->use_empty())
      unused.insert(op);
  for (mlir::Operation* op : unused)
    op->erase();
}

} // namespace octavo::compiler
