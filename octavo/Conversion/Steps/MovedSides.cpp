#include "octavo/Conversion/Steps/MovedSides.h"

#include "octavo/Conversion/Steps/Products.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::conversion {

namespace {

constexpr int kElement = 0, kSlice = 1;

/// Where a part of a weight is gathered from.
struct Source {
  mlir::Value tensor;
  steps::Gathered gathered;
  std::int64_t slices = 1;
  mlir::Value index = {};
};

/// One slice along one axis, of which it is everything along all others: the axis.
std::optional<std::size_t> slicedAxis(stablehlo::DynamicSliceOp slice) {
  const auto from = shapeOf(slice.getOperand()), to = shapeOf(slice.getResult());
  std::optional<std::size_t> found;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == to[axis])
      continue;
    if (found || to[axis] != 1)
      return std::nullopt;
    found = axis;
  }
  return found;
}

/// Whether the digits of one variable are all of its, and adds an axis for each, the most
/// significant first.
bool addAxes(const Index& place, int variable, std::int64_t extent,
             std::vector<steps::Gathered::Axis>& axes) {
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

std::optional<Source> sourceOfPart(mlir::Value part) {
  const std::int64_t size = sizeOf(part);
  Source source;
  Unknowns unknowns(kSlice + 1);
  Element element = sourceOf({part, Index::variable(kElement, size)}, unknowns);
  if (const auto sliced = throughSlice(element, kSlice, unknowns)) {
    source.slices = sliced->slices;
    source.index = sliced->index;
    element = sliced->element;
  }
  source.tensor = element.tensor;
  source.gathered.offset = element.linear.constant();
  std::vector<steps::Gathered::Axis>& axes = source.gathered.axes;
  const bool isWhole = llvm::all_of(element.linear.digits(),
                                    [](const auto& digit) { return digit.variable <= kSlice; });
  if (size == 0 || !isWhole || !addAxes(element.linear, kSlice, source.slices, axes) ||
      !addAxes(element.linear, kElement, size, axes))
    return std::nullopt;
  return source;
}

bool isOfConstant(mlir::Value value) {
  return value.getDefiningOp<stablehlo::ConstantOp>() != nullptr;
}

} // namespace

std::optional<SlicedElement> throughSlice(const Element& element, int variable,
                                          Unknowns& unknowns) {
  auto slice = element.tensor.getDefiningOp<stablehlo::DynamicSliceOp>();
  const auto axis = slice ? slicedAxis(slice) : std::nullopt;
  if (!axis)
    return std::nullopt;
  const mlir::Value whole = slice.getOperand();
  const std::int64_t slices = shapeOf(whole)[*axis];
  auto indices = indicesOf(element.linear, shapeOf(slice.getResult()), unknowns);
  indices[*axis] = Index::variable(variable, slices);
  return SlicedElement{sourceOf({whole, linearIndex(indices, shapeOf(whole))}, unknowns), slices,
                       slice.getStartIndices()[static_cast<unsigned>(*axis)]};
}

std::optional<MovedSide> movedSide(ir::PackOp pack) {
  if (!mlir::cast<ir::ScaledType>(pack.getResult().getType()).hasStaticShape())
    return std::nullopt;
  const std::optional<Source> elements = sourceOfPart(pack.getElements()),
                              scales = sourceOfPart(pack.getScales());
  if (!elements || !scales || elements->slices != scales->slices ||
      elements->index != scales->index)
    return std::nullopt;
  MovedSide side{.whole = {},
                 .parts = {},
                 .elements = elements->gathered,
                 .scales = scales->gathered,
                 .slices = elements->slices,
                 .index = elements->index};
  if (auto unpack = elements->tensor.getDefiningOp<ir::UnpackOp>()) {
    auto other = scales->tensor.getDefiningOp<ir::UnpackOp>();
    const bool isWhole = other && other.getOperand() == unpack.getOperand() &&
                         elements->tensor == unpack.getElements() &&
                         scales->tensor == other.getScales();
    auto outer = pack.getOuter() ? pack.getOuter().getDefiningOp<ir::UnpackOp>() : ir::UnpackOp();
    if (!isWhole || (pack.getOuter() && (!outer || outer.getOperand() != unpack.getOperand() ||
                                         outer.getOuter() != pack.getOuter())))
      return std::nullopt;
    side.whole = unpack.getOperand();
    return side;
  }
  side.parts = {elements->tensor, scales->tensor};
  if (pack.getOuter())
    side.parts.push_back(pack.getOuter());
  // As they are, they need no copy.
  const bool isMoved = elements->tensor != pack.getElements() || scales->tensor != pack.getScales();
  if (!isMoved || !llvm::all_of(side.parts, isOfConstant))
    return std::nullopt;
  return side;
}

std::optional<KeptSlice> keptSlice(mlir::Value values) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(values.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  const std::optional<Source> source = sourceOfPart(values);
  auto argument =
      source ? mlir::dyn_cast<mlir::BlockArgument>(source->tensor) : mlir::BlockArgument();
  if (!argument || !mlir::isa<mlir::func::FuncOp>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  llvm::ArrayRef<steps::Gathered::Axis> axes = source->gathered.axes;
  KeptSlice slice{argument, source->gathered.offset, 0, source->slices, source->index};
  if (source->slices > 1) {
    if (axes.empty() || axes.front().count != source->slices)
      return std::nullopt;
    slice.stride = axes.front().stride;
    axes = axes.drop_front();
  }
  return axes.empty() || (axes.size() == 1 && axes.front().stride == 1) ? std::optional(slice)
                                                                        : std::nullopt;
}

bool isOnlyMoved(mlir::Operation* op) {
  if (!llvm::isa<ir::UnpackOp, stablehlo::DynamicSliceOp>(op))
    return false;
  llvm::SmallVector<mlir::Operation*> next = {op};
  while (!next.empty())
    for (mlir::Operation* user : next.pop_back_val()->getUsers()) {
      auto pack = llvm::dyn_cast<ir::PackOp>(user);
      if (!pack && !isView(user) && !llvm::isa<stablehlo::DynamicSliceOp>(user))
        return false;
      const auto takesMoved = [&](mlir::Operation* dot) {
        const std::optional<ScaledProduct> product =
            scaledProduct(llvm::cast<ir::DotGeneralOp>(dot));
        return product->moved && product->leftParts != pack;
      };
      if (!pack)
        next.push_back(user);
      else if (!isTakenInParts(pack) || !llvm::all_of(pack->getUsers(), takesMoved))
        return false;
    }
  return true;
}

static bool movesParts(mlir::Operation* op) {
  return llvm::isa_and_present<ir::PackOp, ir::UnpackOp, stablehlo::DynamicSliceOp>(op) ||
         isView(op);
}

/// A copy of a value, and of what moves it, at another place.
static mlir::Value copied(mlir::OpBuilder& builder, mlir::Value value, mlir::IRMapping& known) {
  mlir::Operation* op = value.getDefiningOp();
  if (!movesParts(op) || known.contains(value))
    return known.lookupOrDefault(value);
  for (mlir::Value operand : op->getOperands())
    known.map(operand, copied(builder, operand, known));
  builder.clone(*op, known);
  return known.lookup(value);
}

void bringMovement(mlir::func::FuncOp function) {
  llvm::SetVector<mlir::Operation*> left;
  function.walk([&](ir::DotGeneralOp dot) {
    auto pack = dot.getRhs().getDefiningOp<ir::PackOp>();
    if (!pack || !movedSide(pack))
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

} // namespace octavo::conversion
