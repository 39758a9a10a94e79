#include "octavo/Dialect/Octavo/QuantizedInput.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/WrappedCall.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::ir {

std::string argumentName(mlir::func::FuncOp function, unsigned index) {
  if (auto name = function.getArgAttrOfType<mlir::StringAttr>(index, OctavoDialect::kName))
    return name.str();
  if (!function.isExternal())
    if (std::string name = sourceName(locationOfArgument(function, index)); !name.empty())
      return name;
  return "arg" + std::to_string(index);
}

namespace {

llvm::ArrayRef<std::int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// A value and, if known, the index of an element of it.
struct At {
  mlir::Value value;
  std::optional<TensorPlace> place;

  /// Steps to the value from which `value` is moved or converted. Returns false if nothing moves
  /// it.
  bool stepBack();

private:
  bool goTo(mlir::Value operand) {
    value = operand;
    return true;
  }
  bool stepBack(stablehlo::PadOp op);
  bool stepBack(stablehlo::ConcatenateOp op);
  void reshape(llvm::ArrayRef<std::int64_t> from);
};

/// Maps `place` to the element with the same row-major number in shape `from`.
void At::reshape(llvm::ArrayRef<std::int64_t> from) {
  const llvm::ArrayRef<std::int64_t> to = shapeOf(value);
  if (!place || mlir::ShapedType::isDynamicShape(from) || mlir::ShapedType::isDynamicShape(to)) {
    place.reset();
    return;
  }
  std::int64_t number = 0;
  for (auto [at, extent] : llvm::zip_equal(*place, to))
    number = number * extent + at;
  TensorPlace own(from.size());
  for (std::size_t axis = from.size(); axis-- > 0; number /= from[axis])
    own[axis] = number % from[axis];
  place = std::move(own);
}

bool At::stepBack(stablehlo::PadOp op) {
  if (place) {
    TensorPlace own;
    for (auto [at, low, interior, extent] : llvm::zip_equal(
             *place, op.getEdgePaddingLow(), op.getInteriorPadding(), shapeOf(op.getOperand()))) {
      const std::int64_t from = at - low, step = interior + 1;
      if (from < 0 || from % step != 0 ||
          (!mlir::ShapedType::isDynamic(extent) && from / step >= extent))
        return false; // a padded element
      own.push_back(from / step);
    }
    place = std::move(own);
  }
  return goTo(op.getOperand());
}

/// The initial value of a loop-invariant argument of a loop's body; null for any other argument.
mlir::Value givenToLoop(mlir::BlockArgument argument) {
  auto loop = llvm::dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return nullptr;
  const unsigned index = argument.getArgNumber();
  mlir::Operation* end = loop->getRegion(1).front().getTerminator();
  return end->getOperand(index) == loop->getRegion(1).getArgument(index) ? loop->getOperand(index)
                                                                         : mlir::Value();
}

/// Without a place: steps only if all parts come from the same value.
bool At::stepBack(stablehlo::ConcatenateOp op) {
  if (!place) {
    llvm::SmallVector<mlir::Value> origins;
    for (mlir::Value part : op.getInputs()) {
      At own{part, std::nullopt};
      while (own.stepBack())
        ;
      origins.push_back(own.value);
    }
    return llvm::all_equal(origins) && goTo(origins.front());
  }
  std::int64_t& at = (*place)[static_cast<std::size_t>(op.getDimension())];
  for (mlir::Value part : op.getInputs()) {
    const std::int64_t extent = shapeOf(part)[static_cast<std::size_t>(op.getDimension())];
    if (mlir::ShapedType::isDynamic(extent))
      return false;
    if (at < extent)
      return goTo(part);
    at -= extent;
  }
  return false;
}

bool isZeros(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  while (
      llvm::isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(op)) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  return mlir::matchPattern(value, mlir::m_AnyZeroFloat());
}

bool At::stepBack() {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr) {
    const mlir::Value given = givenToLoop(llvm::cast<mlir::BlockArgument>(value));
    return given && goTo(given);
  }
  if (auto barrier = llvm::dyn_cast<stablehlo::OptimizationBarrierOp>(op))
    return goTo(barrier->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
  if (llvm::isa<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op)) {
    reshape(shapeOf(op->getOperand(0)));
    return goTo(op->getOperand(0));
  }
  if (llvm::isa<stablehlo::ConvertOp>(op))
    return goTo(op->getOperand(0));
  if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
    if (place) {
      TensorPlace own(place->size());
      for (auto [axis, from] : llvm::enumerate(transpose.getPermutation()))
        own[static_cast<std::size_t>(from)] = (*place)[axis];
      place = std::move(own);
    }
    return goTo(transpose.getOperand());
  }
  if (auto slice = llvm::dyn_cast<stablehlo::SliceOp>(op)) {
    if (place)
      for (auto [at, start, stride] :
           llvm::zip_equal(*place, slice.getStartIndices(), slice.getStrides()))
        at = start + at * stride;
    return goTo(slice.getOperand());
  }
  if (llvm::isa<stablehlo::RealDynamicSliceOp, stablehlo::DynamicSliceOp>(op)) {
    place.reset();
    return goTo(op->getOperand(0));
  }
  if (auto select = llvm::dyn_cast<stablehlo::SelectOp>(op)) // padding by zeros
    return isZeros(select.getOnFalse()) && goTo(select.getOnTrue());
  if (auto pad = llvm::dyn_cast<stablehlo::PadOp>(op))
    return stepBack(pad);
  if (auto joined = llvm::dyn_cast<stablehlo::ConcatenateOp>(op))
    return stepBack(joined);
  return false;
}

std::string nameOf(mlir::Value value) {
  if (mlir::Operation* op = value.getDefiningOp()) {
    const std::string name = sourceName(op->getLoc());
    return "the result of " + (name.empty() ? "'" + op->getName().getStringRef().str() + "' at " +
                                                  locationText(op->getLoc())
                                            : name);
  }
  auto argument = llvm::cast<mlir::BlockArgument>(value);
  auto function = llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return "what it is given";
  return "argument \"" + argumentName(function, argument.getArgNumber()) + "\"" +
         (function.isPrivate() ? " of @" + function.getName().str() : "");
}

bool isProgramArgument(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  auto function = argument ? llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp())
                           : mlir::func::FuncOp();
  return function && argument.getOwner()->isEntryBlock() && !function.isPrivate();
}

/// The names of the arguments that are concatenated: `argument "a", "b" or "c"`. Empty if a part
/// does not come from an argument of the program.
std::string namesOfParts(stablehlo::ConcatenateOp op) {
  llvm::SetVector<mlir::Value> origins;
  llvm::SmallVector<mlir::Value> parts(llvm::reverse(op.getInputs()));
  while (!parts.empty()) {
    At at{parts.pop_back_val(), std::nullopt};
    while (at.stepBack())
      ;
    if (auto joined = at.value.getDefiningOp<stablehlo::ConcatenateOp>())
      llvm::append_range(parts, llvm::reverse(joined.getInputs()));
    else if (isProgramArgument(at.value))
      origins.insert(at.value);
    else
      return "";
  }
  std::string names = "argument ";
  for (const auto& [i, origin] : llvm::enumerate(origins)) {
    auto argument = llvm::cast<mlir::BlockArgument>(origin);
    names += i == 0 ? "" : i + 1 == origins.size() ? " or " : ", ";
    names += "\"" +
             argumentName(llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp()),
                          argument.getArgNumber()) +
             "\"";
  }
  return names;
}

} // namespace

QuantizedInput quantizedInput(QuantizeOp op, std::optional<TensorPlace> place) {
  At at{op.getOperand(), std::move(place)};
  while (at.stepBack())
    ;
  if (auto joined = at.value.getDefiningOp<stablehlo::ConcatenateOp>(); joined && !at.place)
    if (std::string names = namesOfParts(joined); !names.empty())
      return {std::move(names), std::nullopt};
  return {nameOf(at.value), std::move(at.place)};
}

} // namespace octavo::ir
