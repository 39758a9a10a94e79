#include "octavo/Transforms/CarriedParts.h"

#include "octavo/Transforms/ScaledOrigin.h"
#include "octavo/Transforms/TensorFacts.h"
#include "octavo/Transforms/UnusedOperations.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

llvm::SmallVector<mlir::Value> values(const Dequantized& parts) {
  llvm::SmallVector<mlir::Value> all = {parts.elements};
  if (parts.scales)
    all.push_back(parts.scales);
  if (parts.outer)
    all.push_back(parts.outer);
  return all;
}

/// The same parts, held by others of their types.
Dequantized heldBy(const Dequantized& parts, mlir::ValueRange values) {
  Dequantized held = parts;
  held.elements = values[0];
  if (parts.scales)
    held.scales = values[1];
  if (parts.outer)
    held.outer = values.back();
  return held;
}

bool fitTogether(const Dequantized& a, const Dequantized& b) {
  return a.block == b.block &&
         llvm::equal(mlir::ValueRange(values(a)).getTypes(),
                     mlir::ValueRange(values(b)).getTypes()) &&
         !a.outer == !b.outer;
}

/// The values that parts stand for, in a type.
mlir::Value dequantized(mlir::OpBuilder& builder, mlir::Location location, const Dequantized& parts,
                        mlir::Type type) {
  const mlir::Value scaled = packed(builder, location, parts);
  mlir::Value wide = ir::DequantizeOp::create(
      builder, location, typeOf(parts.elements).clone(builder.getF32Type()), scaled);
  return type == wide.getType() ? wide
                                : stablehlo::ConvertOp::create(builder, location, type, wide);
}

/// Null where the value that is carried at a place is not of the same parts in every round.
stablehlo::WhileOp carryParts(stablehlo::WhileOp loop, unsigned place) {
  const mlir::Type wide = loop->getOperand(place).getType();
  ScaledOrigins before;
  ScaledOrigin origin = before.of(loop->getOperand(place));
  const auto* found = std::get_if<Dequantized>(&origin);
  if (found == nullptr || found->elements == loop->getOperand(place))
    return {};
  const Dequantized parts = *found;
  const llvm::SmallVector<mlir::Value> carried = values(parts);
  mlir::Block &body = loop.getBody().front(), &condition = loop.getCond().front();
  mlir::Operation* end = body.getTerminator();
  const unsigned first = body.getNumArguments();
  const llvm::SmallVector<mlir::Location> locations(carried.size(), loop.getLoc());
  const auto inBody = llvm::to_vector_of<mlir::Value>(
      body.addArguments(mlir::TypeRange(mlir::ValueRange(carried)), locations));
  {
    ScaledOrigins within;
    within.assume(body.getArgument(place), heldBy(parts, inBody));
    ScaledOrigin next = within.of(end->getOperand(place));
    const auto* again = std::get_if<Dequantized>(&next);
    if (again != nullptr && fitTogether(parts, *again))
      end->insertOperands(end->getNumOperands(), values(*again));
  }
  if (end->getNumOperands() == first) {
    body.eraseArguments(first, static_cast<unsigned>(carried.size()));
    return {};
  }
  mlir::Operation* wideNext = end->getOperand(place).getDefiningOp();
  const auto inCondition = llvm::to_vector_of<mlir::Value>(
      condition.addArguments(mlir::TypeRange(mlir::ValueRange(carried)), locations));
  for (auto [block, held] : {std::pair(&body, &inBody), std::pair(&condition, &inCondition)}) {
    mlir::BlockArgument argument = block->getArgument(place);
    if (block == &body)
      end->eraseOperand(place);
    if (!argument.use_empty()) {
      mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(block);
      mlir::Value again = dequantized(builder, loop.getLoc(), heldBy(parts, *held), wide);
      argument.replaceAllUsesWith(again);
    }
    block->eraseArgument(place);
  }
  llvm::SmallVector<mlir::Value> operands(loop->getOperands());
  operands.erase(operands.begin() + place);
  operands.append(carried.begin(), carried.end());
  mlir::OpBuilder builder(loop);
  auto narrow = stablehlo::WhileOp::create(builder, loop.getLoc(),
                                           mlir::TypeRange(mlir::ValueRange(operands)), operands);
  narrow->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  narrow.getCond().takeBody(loop.getCond());
  narrow.getBody().takeBody(loop.getBody());
  for (unsigned i = 0, j = 0; i < loop->getNumResults(); ++i) {
    if (i != place) {
      loop->getResult(i).replaceAllUsesWith(narrow->getResult(j++));
    } else if (!loop->getResult(i).use_empty()) {
      const mlir::ValueRange last = narrow->getResults().take_back(carried.size());
      loop->getResult(i).replaceAllUsesWith(
          dequantized(builder, loop.getLoc(), heldBy(parts, last), wide));
    }
  }
  loop->erase();
  if (wideNext != nullptr)
    eraseUnused({&wideNext, &wideNext + 1});
  return narrow;
}

} // namespace

stablehlo::WhileOp carryParts(stablehlo::WhileOp loop) {
  for (unsigned place = 0; place < loop->getNumOperands();) {
    if (stablehlo::WhileOp narrow = carryParts(loop, place))
      loop = narrow; // the next value has come to this place
    else
      ++place;
  }
  return loop;
}

} // namespace octavo::transforms
