#include "octavo/Transforms/Recover/CarriedParts.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/TakenRegions.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <cmath>
#include <optional>

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

/// `parts` with their values replaced by `values`.
Dequantized heldBy(const Dequantized& parts, mlir::ValueRange values) {
  Dequantized held = parts;
  held.elements = values[0];
  if (parts.scales)
    held.scales = values[1];
  if (parts.outer)
    held.outer = values.back();
  return held;
}

llvm::SetVector<mlir::Operation*> makersOf(const Dequantized& parts) {
  llvm::SetVector<mlir::Operation*> makers;
  for (mlir::Value part : values(parts))
    if (mlir::Operation* maker = part.getDefiningOp())
      makers.insert(maker);
  return makers;
}

bool fitTogether(const Dequantized& a, const Dequantized& b) {
  return a.format == b.format && a.block == b.block &&
         llvm::equal(mlir::ValueRange(values(a)).getTypes(),
                     mlir::ValueRange(values(b)).getTypes()) &&
         !a.outer == !b.outer;
}

/// Dequantizes parts to `type`.
mlir::Value dequantized(mlir::OpBuilder& builder, mlir::Location location, const Dequantized& parts,
                        mlir::Type type) {
  const mlir::Value scaled = packed(builder, location, parts);
  mlir::Value wide = ir::DequantizeOp::create(
      builder, location, openTypeOf(parts.elements).clone(builder.getF32Type()), scaled);
  return type == wide.getType() ? wide
                                : stablehlo::ConvertOp::create(builder, location, type, wide);
}

/// Removes operand `place` of a terminator, appends the parts, and returns the operation that
/// computed the operand.
mlir::Operation* endWith(mlir::Operation* end, unsigned place, const Dequantized& parts) {
  mlir::Operation* wide = end->getOperand(place).getDefiningOp();
  end->eraseOperand(place);
  end->insertOperands(end->getNumOperands(), values(parts));
  return wide;
}

/// Rebuilds `op` with these operands; the parts, as last results, replace result `place`.
mlir::Operation* withParts(mlir::Operation* op, mlir::ValueRange operands, unsigned place,
                           const Dequantized& parts) {
  mlir::OpBuilder builder(op);
  llvm::SmallVector<mlir::Type> types(op->getResultTypes());
  types.erase(types.begin() + place);
  for (mlir::Value part : values(parts))
    types.push_back(part.getType());
  mlir::Operation* narrow = takeRegions(op, operands, types);
  const std::size_t first = types.size() - values(parts).size();
  for (unsigned i = 0, j = 0; i < op->getNumResults(); ++i) {
    mlir::Value result = op->getResult(i);
    if (i != place)
      result.replaceAllUsesWith(narrow->getResult(j++));
    else if (!result.use_empty())
      result.replaceAllUsesWith(dequantized(builder, op->getLoc(),
                                            heldBy(parts, narrow->getResults().drop_front(first)),
                                            result.getType()));
  }
  op->erase();
  return narrow;
}

/// Appends arguments for the parts to a block, in place of the argument for their values.
llvm::SmallVector<mlir::Value> takeParts(mlir::Block& block, unsigned place,
                                         const Dequantized& parts) {
  llvm::SmallVector<mlir::Value> held;
  const mlir::Location location = block.getArgument(place).getLoc();
  for (mlir::Value part : values(parts))
    held.push_back(block.addArgument(part.getType(), location));
  mlir::BlockArgument argument = block.getArgument(place);
  if (!argument.use_empty()) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&block);
    argument.replaceAllUsesWith(
        dequantized(builder, location, heldBy(parts, held), argument.getType()));
  }
  block.eraseArgument(place);
  return held;
}

/// Zeros under scales of 1, as initial value of a loop. The update that the loop writes into them
/// decides the format. nullopt if its blocks would not be whole.
std::optional<Dequantized> zerosFor(stablehlo::WhileOp loop, unsigned place) {
  const mlir::Value start = loop->getOperand(place);
  mlir::Block& body = loop.getBody().front();
  auto update =
      body.getTerminator()->getOperand(place).getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  const std::optional<double> number = splatNumber(start);
  if (!update || update.getOperand() != body.getArgument(place) || !typeOf(start) ||
      number != 0.0 || std::signbit(*number))
    return {};
  DequantizationTraces origins;
  const DequantizationTrace origin = origins.of(update.getUpdate());
  const auto* written = std::get_if<Dequantized>(&origin);
  if (written == nullptr || written->outer || !typeOf(written->elements))
    return {};
  mlir::OpBuilder builder(loop);
  const auto filled = [&](mlir::TypedAttr number,
                          llvm::ArrayRef<std::int64_t> shape) -> mlir::Value {
    return stablehlo::ConstantOp::create(
        builder, loop.getLoc(),
        mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(shape, number.getType()),
                                     mlir::Attribute(number)));
  };
  Dequantized zeros = *written;
  if (written->scales) {
    Extents grid;
    for (auto [extent, part, block] :
         llvm::zip_equal(shapeOf(start), shapeOf(written->elements), written->block)) {
      // The last block of an axis may be short if the axis is written as a whole.
      if (block < 1 || (extent % block != 0 && part != extent))
        return {};
      grid.push_back((extent + block - 1) / block);
    }
    zeros.scales =
        filled(builder.getFloatAttr(openTypeOf(written->scales).getElementType(), 1), grid);
  }
  zeros.elements =
      filled(builder.getZeroAttr(openTypeOf(written->elements).getElementType()), shapeOf(start));
  return zeros;
}

/// Traces that stay valid until the program changes, so that consecutive loops do not each trace
/// all that is before them.
class KnownOrigins {
public:
  DequantizationTraces& get() {
    if (!origins)
      origins.emplace();
    return *origins;
  }
  void forget() { origins.reset(); }

private:
  std::optional<DequantizationTraces> origins;
};

/// The loop, with parts at the end of the carried values in place of value `place`; null if the
/// value is not of the same parts in every iteration. The body is tried on a copy, since inner
/// loops and branches change, too.
mlir::Operation* carried(stablehlo::WhileOp loop, unsigned place, KnownOrigins& known) {
  const DequantizationTrace origin = known.get().of(loop->getOperand(place));
  const bool isOfZeros = !std::holds_alternative<Dequantized>(origin);
  const std::optional<Dequantized> parts =
      isOfZeros ? zerosFor(loop, place) : std::optional(std::get<Dequantized>(origin));
  if (!parts || parts->elements == loop->getOperand(place))
    return nullptr;
  const auto forgetting = llvm::make_scope_exit([&] { known.forget(); });
  mlir::OpBuilder builder(loop);
  auto trial = llvm::cast<stablehlo::WhileOp>(builder.clone(*loop));
  mlir::Block& body = trial.getBody().front();
  mlir::Operation* end = body.getTerminator();
  takeParts(body, place, *parts);
  carryParts(trial.getBody());
  llvm::SetVector<mlir::Operation*> wide;
  {
    DequantizationTraces within;
    const DequantizationTrace next = within.of(end->getOperand(place));
    const auto* again = std::get_if<Dequantized>(&next);
    if (again != nullptr && fitTogether(*parts, *again))
      wide.insert(endWith(end, place, *again));
  }
  if (wide.empty()) {
    trial->erase();
    if (isOfZeros)
      eraseUnused(makersOf(*parts));
    return nullptr;
  }
  eraseUnused(std::move(wide));
  takeParts(trial.getCond().front(), place, *parts);
  loop->replaceAllUsesWith(trial);
  loop->erase();
  llvm::SmallVector<mlir::Value> operands(trial->getOperands());
  operands.erase(operands.begin() + place);
  operands.append(values(*parts));
  return withParts(trial, operands, place, *parts);
}

/// The branches, with parts at the end of their results in place of result `place`; null if they do
/// not all return the same parts.
mlir::Operation* chosen(mlir::Operation* op, unsigned place, KnownOrigins& known) {
  llvm::SmallVector<Dequantized> found;
  llvm::SetVector<mlir::Operation*> wide;
  for (mlir::Region& region : op->getRegions()) {
    const mlir::Value value = region.front().getTerminator()->getOperand(place);
    const DequantizationTrace origin = known.get().of(value);
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (parts == nullptr || parts->elements == value ||
        (!found.empty() && !fitTogether(found.front(), *parts)))
      return nullptr;
    found.push_back(*parts);
  }
  for (auto [region, parts] : llvm::zip_equal(op->getRegions(), found))
    wide.insert(endWith(region.front().getTerminator(), place, parts));
  known.forget();
  eraseUnused(std::move(wide));
  return withParts(op, op->getOperands(), place, found.front());
}

void carryParts(mlir::Region& region, KnownOrigins& known) {
  for (mlir::Block& block : region)
    for (mlir::Operation& each : llvm::make_early_inc_range(block)) {
      mlir::Operation* op = &each;
      const bool isLoop = llvm::isa<stablehlo::WhileOp>(op);
      const bool isChoice = llvm::isa<stablehlo::IfOp, stablehlo::CaseOp>(op);
      const auto rewrite = [&] {
        for (bool isDone = false; !isDone;) {
          isDone = true;
          for (unsigned place = 0; (isLoop || isChoice) && place < op->getNumResults();) {
            mlir::Operation* narrow =
                isLoop ? carried(llvm::cast<stablehlo::WhileOp>(op), place, known)
                       : chosen(op, place, known);
            if (narrow == nullptr) {
              ++place;
              continue;
            }
            op = narrow;    // the next value has moved to this position
            isDone = false; // an earlier value may depend on the new one
          }
        }
      };
      if (isLoop) // the carried values decide about inner loops and branches
        rewrite();
      for (mlir::Region& inner : op->getRegions())
        carryParts(inner, known);
      if (isChoice)
        rewrite();
    }
}

} // namespace

void carryParts(mlir::Region& region) {
  KnownOrigins known;
  carryParts(region, known);
}

} // namespace octavo::transforms
