// chlo.broadcast_*: broadcasts the operands, then writes StableHLO's operation of the same name.
#include "octavo/Dialect/CHLO/Broadcast.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Legalize/CHLO/Operations.h"
#include "octavo/Transforms/Legalize/CHLO/Term.h"
#include "octavo/Transforms/Shapes/RuntimeShape.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <vector>

namespace octavo::transforms {

using mlir::RankedTensorType;

namespace {

/// An operand, and for each of its axes the axis of the result.
struct Placed {
  mlir::Value value;
  chlo::Axes axes;

  /// The operand's axis that is `axis` of the result; nullopt if none is.
  std::optional<std::int64_t> axisOf(std::int64_t axis) const {
    const auto found = llvm::find(axes, axis);
    return found == axes.end() ? std::nullopt : std::optional(found - axes.begin());
  }
  /// The extent on an axis of the result; 1 if the operand has no such axis.
  std::int64_t extent(std::int64_t axis) const {
    const auto own = axisOf(axis);
    return own ? rankedType(value).getDimSize(*own) : 1;
  }
};

std::vector<Placed> place(mlir::Operation* op) {
  std::vector<Placed> operands;
  if (op->getNumOperands() == 2) {
    const chlo::Broadcast broadcast = llvm::cantFail(
        chlo::broadcastOf(rankedType(op->getOperand(0)).getShape(),
                          rankedType(op->getOperand(1)).getShape(), chlo::broadcastDimensions(op)));
    return {{op->getOperand(0), broadcast.lhsAxes}, {op->getOperand(1), broadcast.rhsAxes}};
  }
  const auto rank = static_cast<std::size_t>(rankedType(op->getResult(0)).getRank());
  for (const mlir::Value operand : op->getOperands())
    operands.push_back(
        {operand,
         chlo::alignedAxes(static_cast<std::size_t>(rankedType(operand).getRank()), rank)});
  return operands;
}

/// The extent of the result on an axis, as tensor<1xi32>: that of an operand where it is not 1.
mlir::Value runtimeExtent(mlir::OpBuilder& builder, mlir::Location at,
                          const std::vector<Placed>& operands, std::int64_t axis) {
  mlir::Value extent;
  for (const Placed& operand : operands) {
    if (operand.extent(axis) == 1)
      continue;
    const mlir::Value own = extentOf(builder, at, operand.value, *operand.axisOf(axis));
    if (!mlir::ShapedType::isDynamic(operand.extent(axis)))
      return own;
    if (!extent) {
      extent = own;
      continue;
    }
    const mlir::Value isOne =
        stablehlo::CompareOp::create(builder, at, RankedTensorType::get({1}, builder.getI1Type()),
                                     extent, numbers(builder, at, 1),
                                     stablehlo::ComparisonDirectionAttr::get(
                                         builder.getContext(), stablehlo::ComparisonDirection::EQ),
                                     stablehlo::ComparisonTypeAttr::get(
                                         builder.getContext(), stablehlo::ComparisonType::SIGNED));
    extent = stablehlo::SelectOp::create(builder, at, own.getType(), isOne, own, extent);
  }
  return extent ? extent : numbers(builder, at, 1);
}

/// Whether an operand has the shape of the result, whatever the extents of the others.
bool isWhole(const std::vector<Placed>& operands, const Placed& operand, RankedTensorType result) {
  for (std::int64_t axis = 0; axis < result.getRank(); ++axis) {
    const auto isOne = [&](const Placed& other) {
      return &other == &operand || other.extent(axis) == 1;
    };
    const bool isLargest =
        mlir::ShapedType::isDynamic(operand.extent(axis)) || operand.extent(axis) == 1
            ? llvm::all_of(operands, isOne)
            : operand.extent(axis) == result.getDimSize(axis);
    if (!isLargest || operand.axisOf(axis) != axis)
      return false;
  }
  return true;
}

} // namespace

Replacements broadcastOperands(mlir::OpBuilder& builder, mlir::Operation* op) {
  const mlir::Location at = op->getLoc();
  const std::vector<Placed> operands = place(op);
  const RankedTensorType result = rankedType(op->getResult(0));
  mlir::Value shape;
  Replacements wide;
  for (const Placed& operand : operands) {
    const RankedTensorType given = rankedType(operand.value);
    const RankedTensorType wanted = withElement(result, given.getElementType());
    if (isWhole(operands, operand, result)) {
      wide.push_back(operand.value);
    } else if (given.hasStaticShape() && result.hasStaticShape()) {
      wide.push_back(stablehlo::BroadcastInDimOp::create(
          builder, at, wanted, operand.value, builder.getDenseI64ArrayAttr(operand.axes)));
    } else {
      if (!shape) {
        llvm::SmallVector<mlir::Value> extents;
        for (std::int64_t axis = 0; axis < result.getRank(); ++axis)
          extents.push_back(runtimeExtent(builder, at, operands, axis));
        shape = shapeOfExtents(builder, at, extents);
      }
      wide.push_back(broadcast(builder, at, operand.value, shape, wanted, operand.axes));
    }
  }
  return wide;
}

Replacements legalizeBroadcast(mlir::OpBuilder& builder, mlir::Operation* op) {
  llvm::StringRef name = op->getName().stripDialect();
  name.consume_front("broadcast_");
  return {builder
              .create(op->getLoc(), builder.getStringAttr("stablehlo." + name),
                      broadcastOperands(builder, op), op->getResult(0).getType())
              ->getResult(0)};
}

Replacements legalizeBroadcastCompare(mlir::OpBuilder& builder, mlir::Operation* op) {
  auto comparison = llvm::cast<chlo::BroadcastCompareOp>(op);
  const Replacements operands = broadcastOperands(builder, op);
  stablehlo::ComparisonTypeAttr type;
  if (const auto given = comparison.getCompareType();
      given && *given != chlo::ComparisonType::NOTYPE)
    type = stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                              static_cast<stablehlo::ComparisonType>(*given));
  return {stablehlo::CompareOp::create(
      builder, op->getLoc(), comparison.getType(), operands[0], operands[1],
      stablehlo::ComparisonDirectionAttr::get(
          builder.getContext(),
          static_cast<stablehlo::ComparisonDirection>(comparison.getComparisonDirection())),
      type)};
}

} // namespace octavo::transforms
