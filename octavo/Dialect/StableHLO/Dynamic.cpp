// Dynamic family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Convolution.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Gather.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Dynamic.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerDynamic() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Dynamic.cpp.inc"
      >();
}

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Numbers = llvm::SmallVector<std::int64_t>;

namespace {

/// The numbers of a constant operand; nullopt for any other.
std::optional<Numbers> constantNumbers(mlir::Value value) {
  mlir::DenseIntElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)))
    return std::nullopt;
  const bool isUnsigned = elements.getElementType().isUnsignedInteger();
  return llvm::map_to_vector(elements.getValues<llvm::APInt>(), [&](const llvm::APInt& number) {
    return isUnsigned ? static_cast<std::int64_t>(number.getZExtValue()) : number.getSExtValue();
  });
}

/// The extents in a shape operand, unknown if it is not a constant. Fails if an extent is negative.
llvm::FailureOr<Extents> extentsFrom(const Checker& check, llvm::StringRef rule,
                                     llvm::StringRef name, mlir::Value shape) {
  const std::optional<Numbers> numbers = constantNumbers(shape);
  if (!numbers)
    return Extents(static_cast<std::size_t>(tensorType(shape).getDimSize(0)), Extent::unknown());
  for (std::int64_t number : *numbers)
    if (number < 0)
      return check.violated(rule, name, " must not be negative; found ", spell(*numbers));
  return knownExtents(*numbers);
}

/// Verifies that the shape operand agrees with the result's shape.
LogicalResult verifyShapeOperand(const Checker& check, llvm::StringRef rule, llvm::StringRef name,
                                 mlir::Value shape, RankedTensorType result) {
  if (tensorType(shape).getDimSize(0) != result.getRank())
    return check.violated(rule, name, " must have one number for each of the result's ",
                          result.getRank(), " axes; found ", shape.getType());
  const llvm::FailureOr<Extents> extents = extentsFrom(check, rule, name, shape);
  if (failed(extents))
    return mlir::failure();
  if (!areCompatible(*extents, extentsOf(result)))
    return check.violated(rule, "the result must have the shape ", spell(*extents), " that ", name,
                          " gives; found ", spell(extentsOf(result)));
  return mlir::success();
}

/// Verifies that element types are equal, except that the quantization dimension (and stretched
/// scales) may differ.
LogicalResult verifyElement(const Checker& check, RankedTensorType operand,
                            RankedTensorType result) {
  const mlir::Type from = operand.getElementType(), to = result.getElementType();
  if (from == to ||
      (isQuantizedPerAxis(from) && isQuantizedPerAxis(to) && bitWidth(from) == bitWidth(to)))
    return mlir::success();
  return check.violated("C1", "operand and result must have one element type; found ", from,
                        " and ", to);
}

} // namespace

LogicalResult DynamicBroadcastInDimOp::verify() {
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), result = getType();
  const llvm::ArrayRef<std::int64_t> dimensions = getBroadcastDimensions();
  if (failed(check.oneEach("C2", "broadcast_dimensions", dimensions, operand.getRank(),
                           "axes of the operand")) ||
      failed(
          check.inside("C3", "broadcast_dimensions", dimensions, result.getRank(), "the result")) ||
      failed(check.unique("C4", "broadcast_dimensions", dimensions)) ||
      failed(verifyShapeOperand(check, "C7", "output_dimensions", getOutputDimensions(), result)))
    return mlir::failure();
  const llvm::FailureOr<Extents> given =
      extentsFrom(check, "C7", "output_dimensions", getOutputDimensions());
  if (failed(given))
    return mlir::failure();
  const Extents targets = extentsOf(result);
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand))) {
    const auto target = static_cast<std::size_t>(dimensions[axis]);
    if (!extent.is(1) &&
        (!extent.isCompatible(targets[target]) || !extent.isCompatible((*given)[target])))
      return check.violated("C5", "axis ", axis, " of the operand has extent ", extent.spell(),
                            ", which must be 1 or that of axis ", target, " of the result, ",
                            targets[target].mostSpecific((*given)[target]).spell());
  }
  if (failed(verifyBroadcastElements(check, dimensions, operand, result)))
    return mlir::failure();
  const auto expanding = getKnownExpandingDimensions().value_or(llvm::ArrayRef<std::int64_t>());
  const auto nonexpanding =
      getKnownNonexpandingDimensions().value_or(llvm::ArrayRef<std::int64_t>());
  Numbers known(expanding);
  known.append(nonexpanding.begin(), nonexpanding.end());
  if (failed(check.unique("C8", "known_expanding_dimensions and known_nonexpanding_dimensions",
                          known)) ||
      failed(check.inside("C9", "known_expanding_dimensions", expanding, operand.getRank(),
                          "the operand")) ||
      failed(check.inside("C10", "known_nonexpanding_dimensions", nonexpanding, operand.getRank(),
                          "the operand")))
    return mlir::failure();
  return mlir::success();
}

LogicalResult DynamicConvOp::verify() {
  const Checker check(*this);
  const RankedTensorType lhs = getLhs().getType(), padding = getPadding().getType();
  if (padding.getRank() != 2 || padding.getDimSize(1) != 2 ||
      (lhs.getRank() >= 2 && padding.getDimSize(0) != lhs.getRank() - 2))
    return check.violated("C4", "padding must have two numbers for each of ", lhs.getRank() - 2,
                          " axes; found ", padding);
  return verifyConvolution(*this,
                           {getWindowStrides(), getLhsDilation(), getRhsDilation(),
                            getWindowReversal(), std::nullopt, getDimensionNumbers(),
                            static_cast<std::int64_t>(getFeatureGroupCount()),
                            static_cast<std::int64_t>(getBatchGroupCount()), getPrecisionConfig()},
                           lhs, getRhs().getType(), getType(), false);
}

LogicalResult DynamicGatherOp::verify() {
  // The operation's section of the specification lacks the batching axes, so gather's numbers are
  // used.
  static constexpr GatherRules kRules{.rank = "C1",
                                      .indexVectorDim = "C2",
                                      .startIndexMap = "C3",
                                      .offsetOrder = "C4",
                                      .offsetInside = "C5",
                                      .dropped = "C6",
                                      .collapsedOrder = "C6",
                                      .collapsedInside = "C7",
                                      .collapsedSize = "C8",
                                      .batchingOrder = "gather C10",
                                      .batchingInside = "gather C11",
                                      .batchingSize = "gather C12",
                                      .startBatchingUnique = "gather C13",
                                      .startBatchingInside = "gather C14",
                                      .startBatchingVector = "gather C15",
                                      .batchingCount = "gather C16",
                                      .batchingExtents = "gather C17",
                                      .mapUnique = "C9",
                                      .mapInside = "C10",
                                      .sliceCount = "C11",
                                      .sliceSizes = "C12"};
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), result = getType();
  const llvm::FailureOr<Extents> sizes = extentsFrom(check, "C12", "slice_sizes", getSliceSizes());
  if (failed(sizes))
    return mlir::failure();
  const llvm::FailureOr<Extents> shape = inferGather(
      check, kRules, operand, getStartIndices().getType(), getDimensionNumbers(), *sizes);
  if (failed(shape))
    return mlir::failure();
  if (!areCompatible(*shape, extentsOf(result)))
    return check.violated("C13", "the result must have the shape ", spell(*shape), "; found ",
                          spell(extentsOf(result)));
  if (operand.getElementType() != result.getElementType())
    return check.violated("C14", "operand and result must have one element type; found ",
                          operand.getElementType(), " and ", result.getElementType());
  return mlir::success();
}

LogicalResult DynamicIotaOp::verify() {
  const Checker check(*this);
  if (failed(check.inside("C1", "iota_dimension", {static_cast<std::int64_t>(getIotaDimension())},
                          getType().getRank(), "the result")))
    return mlir::failure();
  return verifyShapeOperand(check, "C2", "output_shape", getOutputShape(), getType());
}

LogicalResult DynamicPadOp::verify() {
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), result = getType();
  const mlir::Type padding = tensorType(getPaddingValue()).getElementType();
  if (padding != operand.getElementType() || result.getElementType() != padding)
    return check.violated(
        "C1", "operand, padding_value and result must have one element type; found ",
        operand.getElementType(), ", ", padding, " and ", result.getElementType());
  const mlir::Value lists[] = {getEdgePaddingLow(), getEdgePaddingHigh(), getInteriorPadding()};
  for (mlir::Value list : lists)
    if (tensorType(list).getDimSize(0) != operand.getRank())
      return check.violated("C2",
                            "edge_padding_low, edge_padding_high and interior_padding must have "
                            "one number for each of the operand's ",
                            operand.getRank(), " axes; found ", list.getType());
  const auto low = constantNumbers(lists[0]), high = constantNumbers(lists[1]);
  const auto interior = constantNumbers(lists[2]);
  if (interior && llvm::any_of(*interior, [](std::int64_t number) { return number < 0; }))
    return check.violated("C3", "interior_padding must not be negative; found ", spell(*interior));
  if (result.getRank() != operand.getRank())
    return check.violated("C4", "the result must have the operand's rank ", operand.getRank(),
                          "; found ", result);
  if (!low || !high || !interior)
    return mlir::success();
  const Extents targets = extentsOf(result);
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand))) {
    const WindowAxis padded{
        .low = (*low)[axis], .high = (*high)[axis], .baseDilation = (*interior)[axis] + 1};
    // Windows of one element are the elements of the padded operand.
    const std::optional<Extent> expected =
        extent.map([&](std::int64_t size) { return windowCount(size, padded); });
    if (!expected || !expected->isCompatible(targets[axis]))
      return check.violated("C4", "axis ", axis, " of the result must have the extent ",
                            expected ? expected->spell() : "that padding gives, which is negative",
                            "; found ", targets[axis].spell());
  }
  return mlir::success();
}

LogicalResult DynamicReshapeOp::verify() {
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), result = getType();
  if (failed(verifyElement(check, operand, result)) ||
      failed(verifyShapeOperand(check, "C4", "output_shape", getOutputShape(), result)))
    return mlir::failure();
  const llvm::FailureOr<Extents> given = extentsFrom(check, "C4", "output_shape", getOutputShape());
  if (failed(given))
    return mlir::failure();
  const auto count = knownElements(extentsOf(operand));
  for (const std::optional<std::int64_t> other :
       {knownElements(extentsOf(result)), knownElements(*given)})
    if (count && other && *count != *other)
      return check.violated("C2", "operand and result must have as many elements; found ", *count,
                            " in ", operand, " and ", *other, " in the result");
  if (!isQuantizedPerAxis(result.getElementType()))
    return mlir::success();
  const auto from = elementType(operand.getElementType())->quantized().axis;
  const auto to = elementType(result.getElementType())->quantized().axis;
  const Extents ours = extentsOf(operand), theirs = extentsOf(result);
  const auto before = knownElements(llvm::ArrayRef(ours).take_front(*from));
  const auto after = knownElements(llvm::ArrayRef(theirs).take_front(*to));
  if (!ours[*from].isCompatible(theirs[*to]) || (before && after && *before != *after))
    return check.violated("C3",
                          "the quantized axis must keep its extent and the number of elements "
                          "before it; found ",
                          operand, " and ", result);
  return mlir::success();
}

LogicalResult GetDimensionSizeOp::inferReturnTypes(mlir::MLIRContext* context, Location location,
                                                   Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  if (failed(check.inside("C1", "dimension", {static_cast<std::int64_t>(adaptor.getDimension())},
                          tensorType(adaptor.getOperand()).getRank(), "the operand")))
    return mlir::failure();
  types.push_back(RankedTensorType::get({}, mlir::IntegerType::get(context, 32)));
  return mlir::success();
}

LogicalResult RealDynamicSliceOp::verify() {
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), result = getType();
  const mlir::Value lists[] = {getStartIndices(), getLimitIndices(), getStrides()};
  for (mlir::Value list : lists) {
    if (list.getType() != lists[0].getType())
      return check.violated("I2",
                            "start_indices, limit_indices and strides must have one type; "
                            "found ",
                            lists[0].getType(), " and ", list.getType());
    if (tensorType(list).getDimSize(0) != operand.getRank())
      return check.violated("I2",
                            "start_indices, limit_indices and strides must have one number for "
                            "each of the operand's ",
                            operand.getRank(), " axes; found ", list.getType());
  }
  if (operand.getElementType() != result.getElementType() || operand.getRank() != result.getRank())
    return check.violated("O1", "the result must have the operand's element type and rank; found ",
                          operand, " and ", result);
  return mlir::success();
}

LogicalResult SetDimensionSizeOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                   Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const auto dimension = static_cast<std::int64_t>(adaptor.getDimension());
  if (failed(check.inside("I3", "dimension", {dimension}, operand.getRank(), "the operand")))
    return mlir::failure();
  Extents shape = extentsOf(operand);
  Extent& extent = shape[static_cast<std::size_t>(dimension)];
  const std::optional<std::int64_t> largest = extent.largest();
  const std::optional<Numbers> size = constantNumbers(adaptor.getSize());
  if (size && (size->front() < 0 || (largest && size->front() > *largest)))
    return check.violated("I2", "size must be in [0, ", largest ? std::to_string(*largest) : "?",
                          "]; found ", size->front());
  if (largest)
    extent = size && size->front() == *largest ? Extent::known(*largest) : Extent::atMost(*largest);
  types.push_back(tensorOf(shape, operand.getElementType()));
  return mlir::success();
}

} // namespace octavo::stablehlo
