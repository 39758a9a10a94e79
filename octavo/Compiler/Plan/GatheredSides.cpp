#include "octavo/Compiler/Plan/GatheredSides.h"

#include "octavo/Dialect/ArgumentOfItems.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::compiler {

namespace {

constexpr int kElement = 0, kSlice = 1;

/// Where a part of a weight is gathered from. The gathered axes are those of the selections, then
/// those of the elements.
struct Source {
  mlir::Value tensor;
  program::Gathered gathered;
  IndexedSlices choices;
};

/// Appends an axis for each digit of `variable` in `place`, the most significant first. Returns
/// whether these digits make up the whole variable.
bool addAxes(const Index& place, int variable, std::int64_t extent,
             std::vector<program::Gathered::Axis>& axes) {
  llvm::SmallVector<Index::Digit> digits;
  for (const Index::Digit& digit : place.digits())
    if (digit.variable == variable)
      digits.push_back(digit);
  llvm::sort(digits, [](const auto& a, const auto& b) { return a.divisor > b.divisor; });
  for (const Index::Digit& digit : digits) {
    if (digit.factor < 0 || digit.divisor * digit.modulus != extent)
      return false;
    axes.push_back({digit.modulus, digit.factor});
    extent = digit.divisor;
  }
  return extent == 1;
}

/// The source of `part`, of which each of `products` products has an equal share. nullopt: the part
/// is computed and not only moved, or has no equal shares.
std::optional<Source> sourceOfPart(mlir::Value part, std::int64_t products,
                                   Conversions conversions = Conversions::Stop) {
  const std::int64_t size = sizeOf(part);
  if (size == 0 || products == 0 || size % products != 0)
    return std::nullopt;
  const Index number = Index::variable(kElement, size);
  Unknowns unknowns(kSlice + kMostChoices);
  ChosenElement chosen = throughChoices(
      {part, number}, kSlice, number.dividedBy(size / products)->quotient, conversions, unknowns);
  const Index& linear = chosen.element.linear;
  Source source{chosen.element.tensor, {linear.constant(), {}}, std::move(chosen.choices)};
  std::vector<program::Gathered::Axis>& axes = source.gathered.axes;
  const auto choices = static_cast<int>(source.choices.size());
  for (int i = 0; i < choices; ++i)
    if (!addAxes(linear, kSlice + i, source.choices[static_cast<std::size_t>(i)].slices, axes))
      return std::nullopt;
  const bool isWhole = llvm::all_of(linear.digits(), [&](const Index::Digit& digit) {
    return digit.variable < kSlice + choices;
  });
  // A slice has all matrices, or the matrix of one product.
  const std::int64_t ofSlice = isOfProduct(source.choices) ? size / products : size;
  return isWhole && addAxes(linear, kElement, ofSlice, axes) ? std::optional(std::move(source))
                                                             : std::nullopt;
}

} // namespace

std::optional<GatheredSide> movedSide(ir::PackOp pack, std::size_t batchAxes) {
  const auto type = mlir::cast<ir::ScaledType>(pack.getResult().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  const std::int64_t products =
      numerics::elementCount(llvm::ArrayRef(type.getShape()).take_front(batchAxes));
  const bool haveOwnScales = llvm::all_of(llvm::ArrayRef(type.getBlock()).take_front(batchAxes),
                                          [](std::int64_t extent) { return extent == 1; });
  const std::optional<Source> elements = sourceOfPart(pack.getElements(), products);
  std::optional<Source> scales = sourceOfPart(pack.getScales(), haveOwnScales ? products : 1);
  if (!elements || !scales)
    return std::nullopt;
  // Scales that no index selects are the same for every slice.
  const bool haveSlicesThem = !isOfProduct(elements->choices) || !haveOwnScales || products == 1;
  if (scales->choices.empty() && !elements->choices.empty() && haveSlicesThem) {
    scales->choices = elements->choices;
    scales->gathered.axes.insert(scales->gathered.axes.begin(), {slicesOf(scales->choices), 0});
  }
  if (elements->choices != scales->choices)
    return std::nullopt;
  GatheredSide side{.whole = {},
                    .parts = {},
                    .elements = elements->gathered,
                    .scales = scales->gathered,
                    .choices = elements->choices};
  if (auto unpack = elements->tensor.getDefiningOp<ir::UnpackOp>()) {
    auto other = scales->tensor.getDefiningOp<ir::UnpackOp>();
    const bool isWhole = other && other.getOperand() == unpack.getOperand() &&
                         elements->tensor == unpack.getElements() &&
                         scales->tensor == other.getScales();
    auto outer = pack.getOuter() ? pack.getOuter().getDefiningOp<ir::UnpackOp>() : ir::UnpackOp();
    // The outer scale of the tensor, or none where the tensor has none: the product of the whole
    // would multiply by it too.
    const bool hasItsOuter = pack.getOuter() ? outer && outer.getOperand() == unpack.getOperand() &&
                                                   outer.getOuter() == pack.getOuter()
                                             : !unpack.getOuter();
    if (!isWhole || !hasItsOuter)
      return std::nullopt;
    side.whole = unpack.getOperand();
    return side;
  }
  side.parts = {elements->tensor, scales->tensor};
  if (pack.getOuter())
    side.parts.push_back(pack.getOuter());
  // Parts that nothing moves need no copy, so there is nothing to gather.
  const bool isMoved = elements->tensor != pack.getElements() || scales->tensor != pack.getScales();
  const auto isKept = [&](mlir::Value part) {
    return part.getDefiningOp<stablehlo::ConstantOp>() ||
           (!side.choices.empty() && comesAgain(part));
  };
  if (!isMoved || !llvm::all_of(side.parts, isKept))
    return std::nullopt;
  return side;
}

std::optional<KeptSlice> keptSlice(mlir::Value values) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(values.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  std::optional<Source> source = sourceOfPart(values, 1, Conversions::Widen);
  if (!source || !comesAgain(source->tensor) || isOfItems(source->tensor))
    return std::nullopt;
  const bool isRun = source->gathered.runOf(0, slicesOf(source->choices)).has_value();
  if (!isRun && source->choices.empty())
    return std::nullopt;
  return KeptSlice{source->tensor, std::move(source->gathered), std::move(source->choices)};
}

static bool movesParts(mlir::Operation* op) {
  return llvm::isa_and_present<ir::PackOp, ir::UnpackOp>(op) || selectsSlices(op) || isView(op);
}

/// Clones the operations that move a value, at the builder's place, and returns the clone's value.
static mlir::Value copied(mlir::OpBuilder& builder, mlir::Value value, mlir::IRMapping& known) {
  mlir::Operation* op = value.getDefiningOp();
  if (!movesParts(op) || known.contains(value))
    return known.lookupOrDefault(value);
  for (mlir::Value operand : op->getOperands())
    known.map(operand, copied(builder, operand, known));
  builder.clone(*op, known);
  return known.lookup(value);
}

/// Whether a value is a recurring tensor that is moved in another block than its reader's.
static bool isMovedElsewhere(mlir::Operation* reader, mlir::Value value) {
  bool isElsewhere = false;
  for (mlir::Operation* op; movesParts(op = value.getDefiningOp()); value = op->getOperand(0))
    isElsewhere |= op->getBlock() != reader->getBlock();
  return isElsewhere && comesAgain(value);
}

void bringMovement(mlir::func::FuncOp function) {
  llvm::SetVector<mlir::Operation*> left;
  function.walk([&](mlir::Operation* op) {
    if (!llvm::isa<stablehlo::DotGeneralOp, chlo::RaggedDotOp, ir::QuantizeOp>(op))
      return;
    mlir::OpOperand& read = op->getOpOperand(llvm::isa<ir::QuantizeOp>(op) ? 0 : 1);
    if (!isMovedElsewhere(op, read.get()))
      return;
    mlir::OpBuilder builder(op);
    mlir::IRMapping known;
    left.insert(read.get().getDefiningOp());
    read.set(copied(builder, read.get(), known));
  });
  function.walk([&](ir::DotGeneralOp dot) {
    auto pack = dot.getRhs().getDefiningOp<ir::PackOp>();
    const auto numbers = dot.getDotDimensionNumbers();
    if (!pack || !movedSide(pack, numbers.getRhsBatchingDimensions().size()))
      return;
    mlir::OpBuilder builder(dot);
    mlir::IRMapping known;
    dot.getRhsMutable().assign(copied(builder, pack.getResult(), known));
    left.insert(pack);
  });
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i]->use_empty())
      continue;
    const llvm::SmallVector<mlir::Value> operands(left[i]->getOperands());
    left[i]->erase();
    for (mlir::Value operand : operands)
      if (mlir::Operation* op = operand.getDefiningOp(); movesParts(op) && op->use_empty())
        left.insert(op);
  }
}

} // namespace octavo::compiler
