#include "octavo/Compiler/Plan/BatchIndexedDots.h"

#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Compiler/Plan/Products.h"
#include "octavo/Compiler/Plan/ScaledSides.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace octavo::compiler {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

/// A tensor that has the elements of a dot's side in the same places; null: a scaled value.
mlir::Value elementsOf(mlir::Value side) {
  if (auto pack = side.getDefiningOp<ir::PackOp>())
    return pack.getElements();
  return mlir::isa<mlir::RankedTensorType>(side.getType()) ? side : mlir::Value();
}

/// A side of a dot, with its axes by role.
struct Side {
  mlir::Value value;
  Axes batch, contracted, free;

  Side(mlir::Value value, llvm::ArrayRef<std::int64_t> batching,
       llvm::ArrayRef<std::int64_t> contracting)
      : value(value), batch(batching), contracted(contracting) {
    const auto scaled = mlir::dyn_cast<ir::ScaledType>(value.getType());
    const std::int64_t rank =
        scaled ? scaled.getRank() : mlir::cast<mlir::RankedTensorType>(value.getType()).getRank();
    for (std::int64_t axis = 0; axis < rank; ++axis)
      if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contracted, axis))
        free.push_back(axis);
  }
};

template <typename Dot> std::array<Side, 2> sidesOf(Dot dot) {
  const auto numbers = dot.getDotDimensionNumbers();
  return {
      Side(dot.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()),
      Side(dot.getRhs(), numbers.getRhsBatchingDimensions(),
           numbers.getRhsContractingDimensions())};
}

/// Any element of a tensor: one variable for each axis.
struct AnyElement {
  llvm::ArrayRef<std::int64_t> shape;
  llvm::SmallVector<Index> indices;

  explicit AnyElement(mlir::Value tensor) : shape(shapeOf(tensor)) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      indices.push_back(Index::variable(static_cast<int>(axis), shape[axis]));
  }
  int rank() const { return static_cast<int>(shape.size()); }
  Index linear() const { return linearIndex(indices, shape); }
  Axes extents(llvm::ArrayRef<std::int64_t> axes) const {
    return llvm::map_to_vector(
        axes, [&](std::int64_t axis) { return shape[static_cast<std::size_t>(axis)]; });
  }
  /// The element's number, counted along `axes` alone.
  Index number(llvm::ArrayRef<std::int64_t> axes) const {
    return linearIndex(
        llvm::map_to_vector(
            axes, [&](std::int64_t axis) { return indices[static_cast<std::size_t>(axis)]; }),
        extents(axes));
  }
};

/// The free axes of a side along which indices select slices of a recurring tensor, in order.
/// nullopt: no indices do, or in another order.
std::optional<Axes> chosenAxes(const Side& side) {
  const mlir::Value tensor = elementsOf(side.value);
  if (!tensor || !mlir::cast<mlir::RankedTensorType>(tensor.getType()).hasStaticShape() ||
      sizeOf(tensor) == 0)
    return std::nullopt;
  const AnyElement place(tensor);
  Unknowns unknowns(place.rank() + kMostChoices);
  const Element element{tensor, place.linear()};
  // The elements of a scaled side are codes, not values: tracing stops at their conversions.
  const Conversions conversions = tensor == side.value ? Conversions::Widen : Conversions::Stop;
  const std::optional<Index> number = choiceNumber(element, place.rank(), conversions, unknowns);
  if (!number)
    return std::nullopt;
  Axes chosen, all(side.batch);
  llvm::copy_if(side.free, std::back_inserter(chosen), [&](std::int64_t axis) {
    return llvm::any_of(number->digits(),
                        [&](const auto& digit) { return digit.variable == axis; });
  });
  all.append(chosen);
  const ChosenElement found =
      throughChoices(element, place.rank(), place.number(all), conversions, unknowns);
  const mlir::Value stack = found.element.tensor;
  const bool isKept = stack.getDefiningOp<ir::UnpackOp>() || comesAgain(stack);
  return isOfProduct(found.choices) && isKept ? std::optional(std::move(chosen)) : std::nullopt;
}

mlir::Value broadcast(mlir::OpBuilder& builder, mlir::Value value,
                      llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> places) {
  return stablehlo::BroadcastInDimOp::create(
      builder, value.getLoc(),
      mlir::RankedTensorType::get(shape, mlir::getElementTypeOrSelf(value.getType())), value,
      builder.getDenseI64ArrayAttr(places));
}

Axes count(std::size_t axes, std::int64_t from = 0) {
  Axes all(axes);
  std::iota(all.begin(), all.end(), from);
  return all;
}

bool isNaN(mlir::Value value) {
  const std::optional<llvm::APInt> bits = splatBits(value);
  const auto type = mlir::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
  return bits && type && llvm::APFloat(type.getFloatSemantics(), *bits).isNaN();
}

/// Handles a side with NaN in place of slices beyond a stack (JAX's gather mode "fill"). The dot
/// then reads the slices themselves, and a select puts NaN into the results of those beyond the
/// stack, as each of their sums includes a NaN.
stablehlo::DotGeneralOp filled(stablehlo::DotGeneralOp dot, std::size_t number) {
  std::array<Side, 2> sides = sidesOf(dot);
  Side& side = sides[number];
  const AnyElement place(side.value);
  llvm::SmallVector<mlir::Operation*> views;
  Unknowns unknowns(place.rank());
  Element element{side.value, place.linear()};
  for (mlir::Operation* op; isView(op = element.tensor.getDefiningOp());) {
    views.push_back(op);
    element = sourceOf(op, element.linear, unknowns);
  }
  auto select = element.tensor.getDefiningOp<stablehlo::SelectOp>();
  if (!select || !isNaN(select.getOnFalse()) || sizeOf(dot.getLhs()) == 0)
    return dot;
  mlir::OpBuilder builder(dot);
  side.value = select.getOnTrue();
  for (mlir::Operation* view : llvm::reverse(views)) {
    mlir::IRMapping known;
    known.map(view->getOperand(0), side.value);
    side.value = builder.clone(*view, known)->getResult(0);
  }
  const std::optional<Axes> chosen = chosenAxes(side);
  const Element isThere = sourceOf({select.getPred(), element.linear}, unknowns);
  Axes axes(side.batch);
  if (chosen)
    axes.append(*chosen);
  const Axes extents = place.extents(axes);
  if (!chosen || isThere.linear != place.number(axes) ||
      sizeOf(isThere.tensor) != numerics::elementCount(extents))
    return dot;
  const std::size_t freeBefore = side.batch.size() + (number == 0 ? 0 : sides[0].free.size());
  Axes places = count(side.batch.size());
  for (const std::int64_t axis : *chosen)
    places.push_back(static_cast<std::int64_t>(freeBefore) +
                     (llvm::find(side.free, axis) - side.free.begin()));
  // The broadcast's dimensions must ascend, as free axes do.
  auto product = mlir::cast<stablehlo::DotGeneralOp>(builder.clone(*dot));
  product->setOperand(static_cast<unsigned>(number), side.value);
  const mlir::Value flags = stablehlo::ReshapeOp::create(
      builder, dot.getLoc(), mlir::RankedTensorType::get(extents, builder.getI1Type()),
      isThere.tensor);
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(dot.getResult());
  const auto type = mlir::cast<mlir::RankedTensorType>(dot.getResult().getType());
  const mlir::Value nan = stablehlo::ConstantOp::create(
      builder, dot.getLoc(),
      mlir::DenseElementsAttr::get(
          type, llvm::APFloat::getNaN(
                    mlir::cast<mlir::FloatType>(type.getElementType()).getFloatSemantics())));
  dot.getResult().replaceAllUsesWith(
      stablehlo::SelectOp::create(builder, dot.getLoc(), type,
                                  broadcast(builder, flags, shape, places), product.getResult(),
                                  nan)
          .getResult());
  dot.erase();
  return product;
}

/// Inserts axes of these extents before axis `at`; the value is the same along them.
mlir::Value repeated(mlir::OpBuilder& builder, mlir::Value value, std::size_t at,
                     llvm::ArrayRef<std::int64_t> extents) {
  Axes shape(shapeOf(value)), places = count(at);
  places.append(count(shape.size() - at, static_cast<std::int64_t>(at + extents.size())));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), extents.begin(), extents.end());
  return broadcast(builder, value, shape, places);
}

/// Whether the matrices of a batch, counted by these axes, share scales.
bool haveOneScale(ir::ScaledType type, llvm::ArrayRef<std::int64_t> batch) {
  return llvm::any_of(batch, [&](std::int64_t axis) {
    return type.getBlock()[static_cast<std::size_t>(axis)] != 1;
  });
}

bool haveScalesBeyondMatrices(mlir::Value value, llvm::ArrayRef<std::int64_t> batch) {
  const auto type = mlir::cast<ir::ScaledType>(value.getType());
  return type.getHasOuterScale() || haveOneScale(type, batch);
}

/// The same for a scaled value. If each scale is of one matrix, the quantization is repeated with
/// more matrices; else the parts are broadcast.
mlir::Value repeatedScaled(mlir::OpBuilder& builder, mlir::Value value, std::size_t at,
                           llvm::ArrayRef<std::int64_t> extents) {
  const auto type = mlir::cast<ir::ScaledType>(value.getType());
  Axes shape(type.getShape()), block(type.getBlock());
  const Axes ones(extents.size(), 1);
  const bool isOne = haveOneScale(type, count(at));
  const auto insert = [&](Axes& axes, llvm::ArrayRef<std::int64_t> more) {
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
  };
  insert(shape, extents);
  insert(block, isOne ? extents : llvm::ArrayRef(ones));
  const auto widened = ir::ScaledType::get(value.getContext(), shape, type.getElement(),
                                           type.getScale(), block, type.getHasOuterScale());
  auto quantize = value.getDefiningOp<ir::QuantizeOp>();
  if (quantize && !quantize.getRandomBits() && !haveScalesBeyondMatrices(value, count(at))) {
    const mlir::Value values = repeated(builder, quantize.getOperand(), at, extents);
    auto again = mlir::cast<ir::QuantizeOp>(builder.clone(*quantize));
    again.getOperandMutable().assign(values);
    again.getResult().setType(widened);
    return again.getResult();
  }
  mlir::Value elements, scales, outer;
  if (auto pack = value.getDefiningOp<ir::PackOp>()) {
    elements = pack.getElements(), scales = pack.getScales(), outer = pack.getOuter();
  } else {
    auto parts = ir::UnpackOp::create(builder, value.getLoc(), value);
    elements = parts.getElements(), scales = parts.getScales(), outer = parts.getOuter();
  }
  return ir::PackOp::create(
      builder, value.getLoc(), widened, repeated(builder, elements, at, extents),
      repeated(builder, scales, at, isOne ? llvm::ArrayRef(ones) : extents), outer);
}

/// Transposes a side: batch axes first, contracted axes last.
Side withBatchFirst(mlir::OpBuilder& builder, const Side& side) {
  Axes order(side.batch);
  order.append(side.free);
  order.append(side.contracted);
  const auto batch = side.batch.size(), contracted = side.contracted.size();
  const bool isScaled = mlir::isa<ir::ScaledType>(side.value.getType());
  return Side(isScaled ? reordered(builder, side.value.getDefiningOp(), order)
                       : transposed(builder, side.value.getLoc(), side.value, order),
              count(batch),
              count(contracted, static_cast<std::int64_t>(order.size() - contracted)));
}

class Batches {
public:
  void rewrite(stablehlo::DotGeneralOp dot) {
    if (!plainType(dot) || sizeOf(dot.getResult()) == 0)
      return;
    for (const std::size_t number : {0, 1})
      dot = filled(dot, number);
    rewriteAs(dot);
  }
  void rewrite(ir::DotGeneralOp dot) { rewriteAs(dot); }

private:
  /// Left sides that several dots share, such as gate and up of an expert, with the axes that were
  /// added.
  std::map<std::tuple<const void*, std::size_t, Axes>, mlir::Value> leftSides;

  mlir::Value leftOf(mlir::OpBuilder& builder, const Side& side,
                     llvm::ArrayRef<std::int64_t> extents);
  template <typename Dot> void rewriteAs(Dot dot);
};

mlir::Value Batches::leftOf(mlir::OpBuilder& builder, const Side& side,
                            llvm::ArrayRef<std::int64_t> extents) {
  const std::size_t batch = side.batch.size();
  mlir::Value& made = leftSides[{side.value.getAsOpaquePointer(), batch, Axes(extents)}];
  if (!made) {
    const mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(side.value);
    made = mlir::isa<ir::ScaledType>(side.value.getType())
               ? repeatedScaled(builder, side.value, batch, extents)
               : repeated(builder, side.value, batch, extents);
  }
  return made;
}

template <typename Dot> void Batches::rewriteAs(Dot dot) {
  auto [left, right] = sidesOf(dot);
  std::optional<Axes> chosen = chosenAxes(right);
  const bool isTurned = !chosen;
  constexpr bool isPlain = std::is_same_v<Dot, stablehlo::DotGeneralOp>;
  if (isTurned) {
    std::swap(left, right);
    chosen = chosenAxes(right);
  }
  const std::size_t batch = left.batch.size();
  // A side whose scales span matrices is quantized as a whole, then unpacked.
  const bool isTakenApart = left.value.template getDefiningOp<ir::QuantizeOp>() &&
                            haveScalesBeyondMatrices(left.value, left.batch);
  // Scaled products need their batch axes first; plain products take them anywhere.
  const bool isInOrder = isPlain || areFirst(left.batch);
  if (!chosen || (chosen->empty() && !isTurned && !isTakenApart && isInOrder))
    return;
  mlir::OpBuilder builder(dot);
  if (!areFirst(left.batch)) {
    if (mlir::isa<ir::ScaledType>(left.value.getType()) &&
        !llvm::isa_and_present<ir::QuantizeOp, ir::PackOp>(left.value.getDefiningOp()))
      return;
    left = withBatchFirst(builder, left);
  }
  // The axes of the new result: batch, selected, other free axes of the left side, of the right
  // side. `places` maps each axis of the old result to them.
  const std::size_t more = chosen->size();
  auto next = static_cast<std::int64_t>(batch),
       column = next + static_cast<std::int64_t>(more + left.free.size());
  Axes places = count(batch), ofColumns;
  const Axes ofRows = count(left.free.size(), next + static_cast<std::int64_t>(more));
  for (const std::int64_t axis : right.free)
    ofColumns.push_back(llvm::is_contained(*chosen, axis) ? next++ : column++);
  for (const Axes* axes : {isTurned ? &ofColumns : &ofRows, isTurned ? &ofRows : &ofColumns})
    places.append(*axes);
  Axes shape(places.size());
  for (const auto [axis, place] : llvm::enumerate(places))
    shape[static_cast<std::size_t>(place)] = shapeOf(dot.getResult())[axis];

  if (!chosen->empty() || isTakenApart)
    left.value = leftOf(builder, left, AnyElement(elementsOf(right.value)).extents(*chosen));
  for (std::int64_t& axis : left.contracted)
    axis += axis < static_cast<std::int64_t>(batch) ? 0 : static_cast<std::int64_t>(more);
  right.batch.append(*chosen);
  auto made = mlir::cast<Dot>(builder.clone(*dot));
  made.getLhsMutable().assign(left.value);
  made.getRhsMutable().assign(right.value);
  made.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
      dot.getContext(), count(batch + more), right.batch, left.contracted, right.contracted));
  made.getResult().setType(
      mlir::RankedTensorType::get(shape, mlir::getElementTypeOrSelf(dot.getResult().getType())));
  dot.getResult().replaceAllUsesWith(transposed(builder, dot.getLoc(), made.getResult(), places));
  dot.erase();
}

} // namespace

void batchChoices(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> dots;
  module.walk([&](mlir::Operation* op) {
    if (llvm::isa<stablehlo::DotGeneralOp, ir::DotGeneralOp>(op))
      dots.push_back(op);
  });
  Batches batches;
  for (mlir::Operation* op : dots)
    if (auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op))
      batches.rewrite(dot);
    else
      batches.rewrite(llvm::cast<ir::DotGeneralOp>(op));
}

} // namespace octavo::compiler
