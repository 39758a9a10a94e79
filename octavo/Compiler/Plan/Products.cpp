#include "octavo/Compiler/Plan/Products.h"

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/ElementTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace octavo::compiler {

mlir::Value transposed(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       llvm::ArrayRef<std::int64_t> order) {
  const auto shape = llvm::map_to_vector(
      order, [&](std::int64_t axis) { return shapeOf(value)[static_cast<std::size_t>(axis)]; });
  return stablehlo::TransposeOp::create(builder, location,
                                        mlir::RankedTensorType::get(shape, elementOf(value)), value,
                                        builder.getDenseI64ArrayAttr(order));
}

bool contractsLast(llvm::ArrayRef<std::int64_t> contracting, std::size_t rank) {
  return contracting.size() == 1 && contracting.front() + 1 == static_cast<std::int64_t>(rank);
}

bool areFirst(llvm::ArrayRef<std::int64_t> axes) {
  return llvm::all_of(llvm::enumerate(axes), [](auto each) {
    return each.value() == static_cast<std::int64_t>(each.index());
  });
}

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

/// The axes of an operand by role, in the order in which the product counts them.
struct Roles {
  Axes batch, free, contracted;
  Axes groups; ///< a right side with a matrix for each group of rows: the axis of the groups

  Roles(std::int64_t rank, llvm::ArrayRef<std::int64_t> batching,
        llvm::ArrayRef<std::int64_t> contracting, llvm::ArrayRef<std::int64_t> grouped = {})
      : batch(batching), contracted(contracting), groups(grouped) {
    for (std::int64_t axis = 0; axis < rank; ++axis)
      if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contracted, axis) &&
          !llvm::is_contained(groups, axis))
        free.push_back(axis);
  }
};

std::int64_t product(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> axes) {
  std::int64_t size = 1;
  for (const std::int64_t axis : axes)
    size *= shape[static_cast<std::size_t>(axis)];
  return size;
}

/// The stride of several axes as one axis, counted row-major. nullopt: they have no common stride.
std::optional<std::int64_t> jointStride(llvm::ArrayRef<std::int64_t> shape,
                                        llvm::ArrayRef<std::int64_t> axes,
                                        llvm::ArrayRef<std::int64_t> strides) {
  std::optional<std::int64_t> innermost;
  std::int64_t expected = 0;
  for (const std::int64_t axis : llvm::reverse(axes)) {
    const auto i = static_cast<std::size_t>(axis);
    if (shape[i] == 1)
      continue;
    if (innermost && strides[i] != expected)
      return std::nullopt;
    if (!innermost)
      innermost = strides[i];
    expected = strides[i] * shape[i];
  }
  return innermost.value_or(0);
}

/// The layout of an operand at `source`. The variables after those of its axes count the slices of
/// `choices`. nullopt: the elements have no strides that a MatrixLayout can say.
std::optional<MatrixLayout> layoutFrom(const Element& source, mlir::Value operand,
                                       const Roles& roles, IndexedSlices choices = {}) {
  llvm::SmallVector<std::int64_t> shape(shapeOf(operand));
  Axes ofMatrices;
  for (const Choice& choice : choices) {
    ofMatrices.push_back(static_cast<std::int64_t>(shape.size()));
    shape.push_back(choice.slices);
  }
  ofMatrices.append(roles.groups);
  llvm::SmallVector<std::int64_t> strides(shape.size(), 0);
  for (const Index::Digit& digit : source.linear.digits()) {
    const auto axis = static_cast<std::size_t>(digit.variable);
    if (axis >= shape.size() || digit.divisor != 1 || digit.modulus != shape[axis] ||
        digit.factor < 0)
      return std::nullopt;
    strides[axis] = digit.factor;
  }
  MatrixLayout layout;
  layout.memory = source.tensor;
  layout.offset = source.linear.constant();
  const auto stride = jointStride(shape, roles.free, strides);
  const auto depthStride = jointStride(shape, roles.contracted, strides);
  const auto sliceStride = jointStride(shape, ofMatrices, strides);
  if (!stride || !depthStride || !sliceStride)
    return std::nullopt;
  layout.choices = std::move(choices);
  layout.sliceStride = *sliceStride;
  layout.stride = *stride;
  layout.depthStride = product(shape, roles.contracted) == 1 ? 1 : *depthStride;
  layout.batch.push_back(0);
  for (const std::int64_t axis : roles.batch) {
    const auto i = static_cast<std::size_t>(axis);
    llvm::SmallVector<std::int64_t> next;
    for (const std::int64_t begin : layout.batch)
      for (std::int64_t place = 0; place < shape[i]; ++place)
        next.push_back(begin + place * strides[i]);
    layout.batch = std::move(next);
  }
  return layout;
}

/// The format of `memory` if `operand` is a conversion of it; null if both have one type.
const format::ElementFormat* formatBefore(mlir::Value memory, mlir::Value operand) {
  const mlir::Type from = elementOf(memory);
  return from == elementOf(operand) ? nullptr : elementFormat(from);
}

/// The layout of a right operand that is a slice of recurring memory; of a batch, one slice for
/// each product. The slice itself would be new in each run, so that it would be packed each time.
/// Conversions may come before the selection or after it.
std::optional<MatrixLayout> chosenSlice(Element source, mlir::Value operand, const Roles& roles) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(operand);
  llvm::SmallVector<Index> batch;
  llvm::SmallVector<std::int64_t> extents;
  for (const std::int64_t axis : roles.batch) {
    extents.push_back(shape[static_cast<std::size_t>(axis)]);
    batch.push_back(Index::variable(static_cast<int>(axis), extents.back()));
  }
  const auto number = static_cast<int>(shape.size());
  Unknowns unknowns(number + kMostChoices);
  ChosenElement chosen = throughChoices(std::move(source), number, linearIndex(batch, extents),
                                        Conversions::Widen, unknowns);
  if (chosen.choices.empty() || !comesAgain(chosen.element.tensor) ||
      !(roles.batch.empty() || isOfProduct(chosen.choices)))
    return std::nullopt;
  auto layout = layoutFrom(chosen.element, operand, roles, std::move(chosen.choices));
  // Selected slices are the matrix of one product: the batch must add no offsets.
  if (!layout || !llvm::all_of(layout->batch, [](std::int64_t each) { return each == 0; }))
    return std::nullopt;
  layout->from = formatBefore(layout->memory, operand);
  return layout;
}

/// The layout of an operand: as a view of a value in memory, or else of the operand's own memory.
/// `isPacked`: a right side that is packed if it is of one product, or a selected slice.
std::optional<MatrixLayout> layoutOf(mlir::Value operand, const Roles& roles, bool isLeft,
                                     bool isPacked = false) {
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(operand);
  llvm::SmallVector<Index> indices;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    indices.push_back(Index::variable(static_cast<int>(axis), shape[axis]));
  const Index linear = linearIndex(indices, shape);
  Unknowns unknowns(static_cast<int>(shape.size()) + kMostChoices);
  const Element first = sourceOf({operand, linear}, unknowns);
  if (isPacked)
    if (auto slice = chosenSlice(first, operand, roles))
      return slice;
  if (isPacked && roles.batch.empty())
    if (const Element from = throughConversions(first, unknowns);
        from.tensor != first.tensor &&
        (mlir::isa<mlir::BlockArgument>(from.tensor) || comesAgain(from.tensor)))
      if (auto layout = layoutFrom(from, operand, roles)) {
        layout->from = formatBefore(from.tensor, operand);
        return layout;
      }
  for (const Element& source : {first, Element{operand, linear}}) {
    if (source.tensor != operand && isInlined(source.tensor.getDefiningOp()))
      continue; // computed where it is used: it has no memory
    auto layout = layoutFrom(source, operand, roles);
    if (layout && (!isLeft || layout->depthStride == 1))
      return layout;
  }
  return std::nullopt;
}

bool isStaticOf(mlir::Value value, mlir::Type element) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && tensor.hasStaticShape() && tensor.getElementType() == element;
}

bool isBf16(mlir::Value value) {
  return isStaticOf(value, mlir::BFloat16Type::get(value.getContext()));
}

} // namespace

bool isF32(mlir::Value value) {
  return isStaticOf(value, mlir::Float32Type::get(value.getContext()));
}

/// For dots of both kinds, plain and ragged.
static std::optional<kernels::PlainType> plainTypeOf(auto dot) {
  const auto are = [&](auto isOne) { return isOne(dot.getLhs()) && isOne(dot.getRhs()); };
  const auto isInteger = [&](unsigned width) {
    return [type = mlir::IntegerType::get(dot.getContext(), width)](mlir::Value value) {
      return isStaticOf(value, type);
    };
  };
  if (isInteger(32)(dot.getResult()) && are(isInteger(8)))
    return kernels::PlainType::Int8;
  if (isF32(dot.getResult()) && are(isF32))
    return kernels::PlainType::F32;
  if (isF32(dot.getResult()) && are(isBf16))
    return kernels::PlainType::Bf16;
  return std::nullopt;
}

std::optional<kernels::PlainType> plainType(stablehlo::DotGeneralOp dot) {
  return dot.getAlgorithm() ? std::nullopt : plainTypeOf(dot);
}

namespace {

/// Whether both sides and the result are complex, of one type, and not empty.
bool isComplex(stablehlo::DotGeneralOp dot) {
  const mlir::Type type = elementOf(dot.getResult());
  return mlir::isa<mlir::ComplexType>(type) &&
         llvm::all_of(dot->getOperands(), [&](mlir::Value value) {
           return isStaticOf(value, type) && sizeOf(value) != 0;
         });
}

Roles rolesOf(mlir::Value operand, llvm::ArrayRef<std::int64_t> batching,
              llvm::ArrayRef<std::int64_t> contracting) {
  return Roles(static_cast<std::int64_t>(shapeOf(operand).size()), batching, contracting);
}

} // namespace

/// Joins consecutive products that share their right side into one product of more rows, as the
/// query heads that share a head of keys. The right side is then packed once for them.
static void joinRows(MatrixProduct& product) {
  llvm::SmallVector<std::int64_t>&left = product.left.batch, &right = product.right.batch;
  const std::size_t count = left.size();
  std::size_t group = 1;
  while (group < count && right[group] == right[0])
    ++group;
  if (group == 1 || group == count || count % group != 0)
    return;
  const std::int64_t step = left[1] - left[0];
  if (product.rows != 1 && step != product.rows * product.left.stride)
    return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i / group * group;
    if (right[i] != right[first] ||
        left[i] != left[first] + static_cast<std::int64_t>(i - first) * step)
      return;
  }
  product.left.stride = product.rows == 1 ? step : product.left.stride;
  product.rows *= static_cast<std::int64_t>(group);
  for (std::size_t i = 0; i < count; i += group) {
    left[i / group] = left[i];
    right[i / group] = right[i];
  }
  left.truncate(count / group);
  right.truncate(count / group);
}

std::optional<MatrixProduct> matrixProduct(stablehlo::DotGeneralOp dot) {
  const std::optional<kernels::PlainType> type = plainType(dot);
  if (!type && !isComplex(dot))
    return std::nullopt;
  const auto numbers = dot.getDotDimensionNumbers();
  const Roles left = rolesOf(dot.getLhs(), numbers.getLhsBatchingDimensions(),
                             numbers.getLhsContractingDimensions());
  const Roles right = rolesOf(dot.getRhs(), numbers.getRhsBatchingDimensions(),
                              numbers.getRhsContractingDimensions());
  // A complex side needs no unit stride along its depth.
  auto leftLayout = layoutOf(dot.getLhs(), left, type.has_value());
  auto rightLayout = layoutOf(dot.getRhs(), right, false, type.has_value());
  if (!leftLayout || !rightLayout)
    return std::nullopt;
  MatrixProduct result{type,
                       product(shapeOf(dot.getLhs()), left.free),
                       product(shapeOf(dot.getLhs()), left.contracted),
                       product(shapeOf(dot.getRhs()), right.free),
                       std::move(*leftLayout),
                       std::move(*rightLayout)};
  joinRows(result);
  return result;
}

/// Whether the ragged axis is the only free axis of the left side.
static bool hasRaggedRows(chlo::RaggedDotOp dot) {
  const auto numbers = dot.getRaggedDotDimensionNumbers();
  return dot.mode() == chlo::RaggedDotOp::Mode::Free &&
         numbers.getLhsContractingDimensions().size() + 1 ==
             static_cast<std::size_t>(dot.getLhs().getType().getRank());
}

void layOutOperands(chlo::RaggedDotOp dot) {
  if (!hasRaggedRows(dot))
    return;
  mlir::OpBuilder builder(dot);
  const auto numbers = dot.getRaggedDotDimensionNumbers();
  const auto layOut = [&](mlir::OpOperand& side, llvm::ArrayRef<std::int64_t> first,
                          llvm::ArrayRef<std::int64_t> contracted) {
    const Roles roles(static_cast<std::int64_t>(shapeOf(side.get()).size()), {}, contracted, first);
    Axes order(first);
    order.append(roles.free);
    order.append(roles.contracted);
    if (!llvm::is_sorted(order))
      side.set(transposed(builder, dot.getLoc(), side.get(), order));
    Axes last(contracted.size());
    std::iota(last.begin(), last.end(), static_cast<std::int64_t>(order.size() - last.size()));
    return last;
  };
  const Axes left = layOut(dot->getOpOperand(0), numbers.getLhsRaggedDimensions(),
                           numbers.getLhsContractingDimensions());
  const Axes right = layOut(dot->getOpOperand(1), numbers.getRhsGroupDimensions(),
                            numbers.getRhsContractingDimensions());
  dot.setRaggedDotDimensionNumbersAttr(
      chlo::RaggedDotDimensionNumbersAttr::get(dot.getContext(), {}, {}, left, right, {0}, {0}));
}

std::optional<MatrixProduct> matrixProduct(chlo::RaggedDotOp dot) {
  const auto type = plainTypeOf(dot);
  const auto sizes = dot.getGroupSizes().getType();
  if (!type || !hasRaggedRows(dot) || !sizes.hasStaticShape() || sizes.getRank() != 1 ||
      sizes.getElementType().getIntOrFloatBitWidth() < 8 || sizeOf(dot.getRhs()) == 0)
    return std::nullopt;
  const auto numbers = dot.getRaggedDotDimensionNumbers();
  const Roles left = rolesOf(dot.getLhs(), {}, numbers.getLhsContractingDimensions());
  const Roles right(static_cast<std::int64_t>(shapeOf(dot.getRhs()).size()), {},
                    numbers.getRhsContractingDimensions(), numbers.getRhsGroupDimensions());
  auto leftLayout = layoutOf(dot.getLhs(), left, true);
  auto rightLayout = layoutOf(dot.getRhs(), right, false, true);
  if (!leftLayout || !rightLayout)
    return std::nullopt;
  return MatrixProduct{type,
                       product(shapeOf(dot.getLhs()), left.free),
                       product(shapeOf(dot.getLhs()), left.contracted),
                       product(shapeOf(dot.getRhs()), right.free),
                       std::move(*leftLayout),
                       std::move(*rightLayout),
                       RowGroups{dot.getGroupSizes(), sizes.getDimSize(0)}};
}

/// Whether the contracted axes are the last ones in order, so that a loop over them reads
/// neighbours.
static bool contractsNeighbours(llvm::ArrayRef<std::int64_t> axes, mlir::Value operand) {
  const std::size_t first = shapeOf(operand).size() - axes.size();
  return llvm::all_of(llvm::enumerate(axes), [&](auto each) {
    return each.value() == static_cast<std::int64_t>(first + each.index());
  });
}

void turnProduct(stablehlo::TransposeOp transpose) {
  auto dot = transpose.getOperand().getDefiningOp<stablehlo::DotGeneralOp>();
  if (!dot || !dot->hasOneUse() || !plainType(dot))
    return;
  const auto numbers = dot.getDotDimensionNumbers();
  const mlir::Value sides[] = {dot.getLhs(), dot.getRhs()};
  const Roles roles[] = {
      rolesOf(sides[0], numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()),
      rolesOf(sides[1], numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions())};
  const std::size_t batch = roles[0].batch.size(), rows = roles[0].free.size();
  Axes turned(shapeOf(dot.getResult()).size());
  std::iota(turned.begin(), turned.end(), 0);
  std::rotate(turned.begin() + static_cast<std::ptrdiff_t>(batch),
              turned.begin() + static_cast<std::ptrdiff_t>(batch + rows), turned.end());
  if (transpose.getPermutation() != llvm::ArrayRef(turned))
    return;
  const auto costOnLeft = [&](int side) {
    return layoutOf(sides[side], roles[side], true) ? 0 : sizeOf(sides[side]);
  };
  const std::optional<MatrixLayout> right = layoutOf(sides[1], roles[1], false, true);
  const bool isPackedOnce = right && comesAgain(right->memory);
  if (costOnLeft(1) + (isPackedOnce ? sizeOf(sides[1]) : 0) >=
      costOnLeft(0) + sizeOf(dot.getResult()))
    return;
  mlir::OpBuilder builder(dot);
  mlir::ArrayAttr precision = dot.getPrecisionConfigAttr();
  if (precision) {
    llvm::SmallVector<mlir::Attribute> swapped(llvm::reverse(precision));
    precision = builder.getArrayAttr(swapped);
  }
  builder.setInsertionPoint(transpose);
  auto product = stablehlo::DotGeneralOp::create(
      builder, dot.getLoc(), transpose.getType(), sides[1], sides[0],
      stablehlo::DotDimensionNumbersAttr::get(
          dot.getContext(), numbers.getRhsBatchingDimensions(), numbers.getLhsBatchingDimensions(),
          numbers.getRhsContractingDimensions(), numbers.getLhsContractingDimensions()),
      precision, nullptr);
  transpose.getResult().replaceAllUsesWith(product.getResult());
  transpose.erase();
  dot.erase();
}

void layOutOperands(stablehlo::DotGeneralOp dot) {
  const auto numbers = dot.getDotDimensionNumbers();
  const bool isLaidOut =
      plainType(dot) || isComplex(dot)
          ? matrixProduct(dot).has_value()
          : !isKernelMember(dot) ||
                (contractsNeighbours(numbers.getLhsContractingDimensions(), dot.getLhs()) &&
                 contractsNeighbours(numbers.getRhsContractingDimensions(), dot.getRhs()));
  if (isLaidOut)
    return;
  mlir::OpBuilder builder(dot);
  Axes batching, contracting[2];
  const auto layOut = [&](mlir::Value operand, const Roles& roles, Axes& newContracting) {
    Axes permutation;
    for (const Axes* axes : {&roles.batch, &roles.free, &roles.contracted})
      permutation.append(axes->begin(), axes->end());
    newContracting.resize(roles.contracted.size());
    std::iota(newContracting.begin(), newContracting.end(),
              static_cast<std::int64_t>(roles.batch.size() + roles.free.size()));
    return transposed(builder, dot.getLoc(), operand, permutation);
  };
  const Roles left = rolesOf(dot.getLhs(), numbers.getLhsBatchingDimensions(),
                             numbers.getLhsContractingDimensions());
  const Roles right = rolesOf(dot.getRhs(), numbers.getRhsBatchingDimensions(),
                              numbers.getRhsContractingDimensions());
  dot.getLhsMutable().assign(layOut(dot.getLhs(), left, contracting[0]));
  dot.getRhsMutable().assign(layOut(dot.getRhs(), right, contracting[1]));
  batching.resize(left.batch.size());
  std::iota(batching.begin(), batching.end(), 0);
  dot.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
      dot.getContext(), batching, batching, contracting[0], contracting[1]));
}

} // namespace octavo::compiler
