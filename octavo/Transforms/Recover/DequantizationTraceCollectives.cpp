// Collectives on dequantized tensors, repeated on codes and scales.
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Export/CollectiveWriting.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::transforms {

namespace {

/// Whether the scales are one constant, the same in every process.
bool isSameEverywhere(mlir::Value scales) {
  return scales && elementCount(shapeOf(scales)) == 1 && splatNumber(scales).has_value();
}

} // namespace

/// Repeats the operation on the codes and, if `withScales`, on the scales.
void DequantizationTraces::exchange(mlir::Operation* op, Dequantized& parts, bool withScales,
                                    llvm::ArrayRef<std::int64_t> elements,
                                    llvm::ArrayRef<std::int64_t> grid) {
  mlir::OpBuilder builder(op);
  llvm::SmallVector<mlir::Value> operands = {parts.elements};
  llvm::SmallVector<mlir::Type> types = {typeOf(parts.elements).clone(elements)};
  if (withScales) {
    operands.push_back(parts.scales);
    types.push_back(typeOf(parts.scales).clone(grid));
  }
  const auto create = [&](mlir::ValueRange operands, mlir::TypeRange types) {
    mlir::OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    if (stablehlo::ChannelHandleAttr channel = freshChannel(op))
      state.attributes.set("channel_handle", channel);
    mlir::Operation* made = builder.create(state);
    this->made.push_back(made);
    return made;
  };
  if (llvm::isa<stablehlo::CollectivePermuteOp>(op)) { // of one tensor each
    parts.elements = create(operands[0], types[0])->getResult(0);
    if (withScales)
      parts.scales = create(operands[1], types[1])->getResult(0);
    return;
  }
  mlir::Operation* both = create(operands, types);
  parts.elements = both->getResult(0);
  if (withScales)
    parts.scales = both->getResult(1);
}

DequantizationTrace DequantizationTraces::communicated(mlir::Operation* op, unsigned result) {
  DequantizationTrace inner = of(op->getOperand(result));
  const auto* found = std::get_if<Dequantized>(&inner);
  if (found == nullptr)
    return inner;
  Dequantized parts = *found;
  const bool isShared = !parts.scales || isSameEverywhere(parts.scales);
  if (parts.outer && !isSameEverywhere(parts.outer))
    return Obstacle{op, "joins tensors whose outer scales may differ",
                    "give the processes one outer scale, a constant"};
  const Extents from(shapeOf(parts.elements)), to(shapeOf(op->getResult(result)));
  if (llvm::isa<stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp>(op)) {
    exchange(op, parts, !isShared, to,
             parts.scales ? shapeOf(parts.scales) : llvm::ArrayRef<std::int64_t>());
    return parts;
  }
  const Obstacle cutsBlocks{op, "cuts or mixes blocks", "give each process whole blocks"};
  mlir::OpBuilder builder(op);
  if (auto all = llvm::dyn_cast<stablehlo::AllToAllOp>(op); all && !isShared) {
    // Each process gets a part of the split axis. A scale that covers the whole axis goes to every
    // process.
    const auto axis = static_cast<std::size_t>(all.getSplitDimension());
    const std::int64_t count = all.getSplitCount(), part = from[axis] / count;
    Extents grid(shapeOf(parts.scales));
    if (grid[axis] == 1) {
      grid[axis] = count;
      const auto axes =
          llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(grid.size())));
      parts.scales = make<stablehlo::BroadcastInDimOp>(
          builder, op->getLoc(), typeOf(parts.scales).clone(grid), parts.scales, axes);
      parts.block[axis] = part;
    } else if (part % parts.block[axis] != 0) {
      return cutsBlocks;
    }
  }
  const auto join = static_cast<std::size_t>(
      llvm::TypeSwitch<mlir::Operation*, std::int64_t>(op)
          .Case([](stablehlo::AllGatherOp gather) { return gather.getAllGatherDim(); })
          .Case([](stablehlo::AllToAllOp all) { return all.getConcatDimension(); }));
  if (isShared) {
    exchange(op, parts, false, to, {});
    if (parts.scales)
      parts.block = to;
    return parts;
  }
  if (from[join] % parts.block[join] != 0)
    return cutsBlocks;
  Extents grid(shapeOf(parts.scales));
  for (auto [axis, extent] : llvm::enumerate(grid))
    extent = to[axis] / std::max<std::int64_t>(parts.block[axis], 1);
  for (auto [axis, extent] : llvm::enumerate(shapeOf(parts.scales)))
    if (from[axis] == to[axis])
      grid[axis] = extent;
  exchange(op, parts, true, to, grid);
  return parts;
}

} // namespace octavo::transforms
