// Data movement family: type inference and verifiers.
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Assembly.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>
#include <iterator>

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/DataMovement.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Shape = llvm::SmallVector<std::int64_t>;

void StableHLODialect::registerDataMovement() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/DataMovement.cpp.inc"
      >();
}

LogicalResult ConstantOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                           Types& types) {
  types.push_back(adaptor.getValue().getType());
  return mlir::success();
}

bool ConstantOp::isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange given) {
  const auto value = llvm::dyn_cast<RankedTensorType>(inferred.front());
  const auto result = llvm::dyn_cast<RankedTensorType>(given.front());
  if (!value || !result || !isQuantized(result.getElementType()))
    return inferred == given;
  // A quantized constant is written as its storage. If the storage is signless, the result type
  // determines the sign.
  const auto storage = llvm::dyn_cast<mlir::IntegerType>(value.getElementType());
  const numerics::IntegerType expected = elementType(result.getElementType())->quantized().storage;
  return value.getShape() == result.getShape() && storage &&
         static_cast<int>(storage.getWidth()) == expected.width &&
         (storage.isSignless() || storage.isUnsigned() == expected.isUnsigned);
}

LogicalResult ConstantOp::verify() {
  const mlir::Type value = getValue().getType();
  if (!isStaticTensor(value))
    return violates<ConstantOp>(getLoc(), "C1",
                                "the value must be a tensor of known extents; found ", value);
  if (!isCompatibleReturnTypes(value, getType()))
    return violates<ConstantOp>(getLoc(), "C1", "the result must have type ", value, "; found ",
                                getType());
  return mlir::success();
}

mlir::ParseResult ConstantOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  mlir::Type type;
  if (succeeded(parser.parseOptionalLParen())) {
    // The generic form, `() <{value = dense<7> : tensor<2xi8>}> : () -> TYPE`: the value's type
    // differs from the result's.
    if (parser.parseRParen() ||
        (succeeded(parser.parseOptionalLess()) &&
         (parser.parseAttribute(state.propertiesAttr) || parser.parseGreater())) ||
        parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
        parser.parseLParen() || parser.parseRParen() || parser.parseArrow() ||
        parser.parseType(type))
      return mlir::failure();
    state.addTypes(type);
    return mlir::success();
  }
  mlir::ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseAttribute(value))
    return mlir::failure();
  state.getOrAddProperties<Properties>().value = value;
  state.addTypes(value.getType());
  return mlir::success();
}

void ConstantOp::print(mlir::OpAsmPrinter& printer) {
  if (getValue().getType() != getType())
    return printer.printGenericOp(*this, /*printOpName=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {getValueAttrName().getValue()});
  printer << ' ' << getValue();
}

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) {
  // A quantized constant is not folded: no attribute has its type.
  return getValue().getType() == getType() ? mlir::OpFoldResult(getValue()) : mlir::OpFoldResult();
}

void ConstantOp::getAsmResultNames(mlir::OpAsmSetValueNameFn setName) {
  setName(getOutput(), llvm::isa<mlir::IntegerType>(getType().getElementType()) ? "c" : "cst");
}

LogicalResult IotaOp::verify() {
  const auto dimension = static_cast<std::int64_t>(getIotaDimension());
  if (dimension < 0 || dimension >= getType().getRank())
    return violates<IotaOp>(getLoc(), "C1", "iota_dimension must be in [0, ", getType().getRank(),
                            "), the axes of the result; found ", dimension);
  return mlir::success();
}

namespace {

/// C1 of operations that move axes: element types are equal, except that the quantization dimension
/// may differ (and the scales, if axes are stretched).
bool isSameButForAxis(mlir::Type a, mlir::Type b) {
  if (!isQuantizedPerAxis(a) || !isQuantizedPerAxis(b))
    return a == b;
  numerics::QuantizedType x = elementType(a)->quantized(), y = elementType(b)->quantized();
  x.axis = y.axis = std::nullopt;
  x.scales = y.scales = {};
  x.zeroPoints = y.zeroPoints = {};
  return x == y;
}

/// C3 of reshape: the numbers of elements before, at and after the quantization dimension stay the
/// same.
LogicalResult verifyReshapedQuantization(ReshapeOp op, RankedTensorType operand,
                                         RankedTensorType result) {
  if (!isQuantizedPerAxis(result.getElementType()))
    return mlir::success();
  const numerics::QuantizedType from = elementType(operand.getElementType())->quantized();
  const numerics::QuantizedType to = elementType(result.getElementType())->quantized();
  const auto elementsBefore = [](RankedTensorType type, std::int64_t axis) {
    return knownElements(
        llvm::ArrayRef(extentsOf(type)).take_front(static_cast<std::size_t>(axis)));
  };
  const Extent extent = extentsOf(operand)[static_cast<std::size_t>(*from.axis)];
  const Extent target = extentsOf(result)[static_cast<std::size_t>(*to.axis)];
  const auto before = elementsBefore(operand, *from.axis), after = elementsBefore(result, *to.axis);
  if (!extent.isCompatible(target) || (before && after && *before != *after) ||
      from.scales != to.scales || from.zeroPoints != to.zeroPoints)
    return violates<ReshapeOp>(op.getLoc(), "C3",
                               "the quantized axis must keep its extent, its scales and the number "
                               "of elements before it; found ",
                               operand, " and ", result);
  return mlir::success();
}

/// Fails if an extent of the result is unknown: without a shape operand, the result's extents must
/// be known or bounded. `other` is the operation that takes a shape.
LogicalResult verifyResultExtents(const Checker& check, RankedTensorType result,
                                  llvm::StringRef other) {
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result)))
    if (!extent.isKnown() && !extent.isBounded())
      return check.violated("O1", "the extents of the result must be known or bounded; axis ", axis,
                            " of ", result, " is not. Use ", other,
                            " for an extent that an operand gives");
  return mlir::success();
}

} // namespace

LogicalResult verifyBroadcastElements(const Checker& check, llvm::ArrayRef<std::int64_t> dimensions,
                                      RankedTensorType operand, RankedTensorType result) {
  const mlir::Type given = operand.getElementType(), made = result.getElementType();
  if (!isSameButForAxis(given, made))
    return check.violated("C1", "operand and result must have one element type; found ", given,
                          " and ", made);
  if (!isQuantizedPerAxis(made))
    return mlir::success();
  const numerics::QuantizedType from = elementType(given)->quantized();
  const numerics::QuantizedType to = elementType(made)->quantized();
  const std::int64_t target = dimensions[static_cast<std::size_t>(*from.axis)];
  if (*to.axis != target)
    return check.violated("C6", "the quantization dimension of the result must be ", target,
                          ", where that of the operand goes; found ", *to.axis);
  if (operand.getDimSize(static_cast<unsigned>(*from.axis)) != 1)
    return mlir::success();
  for (std::size_t i = 0; i < to.scales.size(); ++i)
    if (to.scales[i] != from.scales[0] || to.zeroPoints[i] != from.zeroPoints[0])
      return check.violated("C6",
                            "a stretched axis must repeat the operand's one scale and zero point; "
                            "entry ",
                            i, " of the result differs");
  return mlir::success();
}

LogicalResult BroadcastInDimOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  const RankedTensorType result = getType();
  const llvm::ArrayRef<std::int64_t> dimensions = getBroadcastDimensions();
  if (static_cast<std::int64_t>(dimensions.size()) != operand.getRank())
    return violates<BroadcastInDimOp>(getLoc(), "C2",
                                      "broadcast_dimensions must have one entry for "
                                      "each of the operand's ",
                                      operand.getRank(), " axes; found ", spell(dimensions));
  if (const auto outside = firstOutside(dimensions, result.getRank()))
    return violates<BroadcastInDimOp>(getLoc(), "C3", "broadcast_dimensions must be in [0, ",
                                      result.getRank(), "), the axes of the result; found ",
                                      *outside);
  if (const auto repeated = firstRepeated(dimensions))
    return violates<BroadcastInDimOp>(getLoc(), "C4", "broadcast_dimensions must be unique; found ",
                                      *repeated, " twice in ", spell(dimensions));
  const Extents targets = extentsOf(result);
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand))) {
    const Extent target = targets[static_cast<std::size_t>(dimensions[axis])];
    if (!extent.is(1) && !extent.isCompatible(target))
      return violates<BroadcastInDimOp>(getLoc(), "C5", "axis ", axis,
                                        " of the operand has extent ", extent.spell(),
                                        ", which must be 1 or that of axis ", dimensions[axis],
                                        " of the result, ", target.spell());
  }
  if (failed(verifyBroadcastElements(Checker(*this), dimensions, operand, result)))
    return mlir::failure();
  return verifyResultExtents(Checker(*this), result, "stablehlo.dynamic_broadcast_in_dim");
}

LogicalResult ConcatenateOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                              Adaptor adaptor, Types& types) {
  if (adaptor.getInputs().empty())
    return violates<ConcatenateOp>(location, "C3", "there must be at least one input");
  const RankedTensorType first = tensorType(adaptor.getInputs().front());
  const auto dimension = static_cast<std::int64_t>(adaptor.getDimension());
  if (dimension < 0 || dimension >= first.getRank())
    return violates<ConcatenateOp>(location, "C4", "dimension must be in [0, ", first.getRank(),
                                   "), the axes of the inputs; found ", dimension);
  Extents shape = extentsOf(first);
  Extent sum = Extent::known(0);
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs())) {
    const RankedTensorType type = tensorType(input);
    if (type.getElementType() != first.getElementType())
      return violates<ConcatenateOp>(location, "C1", "inputs must have one element type; input ", i,
                                     " has ", type.getElementType(), ", input 0 has ",
                                     first.getElementType());
    const Extents extents = extentsOf(type);
    if (extents.size() == shape.size())
      shape[dimension] = extents[dimension];
    if (!areCompatible(extents, shape))
      return violates<ConcatenateOp>(location, "C2", "inputs must have one shape except on axis ",
                                     dimension, "; input ", i, " has ", spell(extents),
                                     ", input 0 has ", spell(extentsOf(first)));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      shape[axis] = shape[axis].mostSpecific(extents[axis]);
    const std::optional<Extent> next = sum.plus(extents[dimension]);
    if (!next)
      return violates<ConcatenateOp>(location, "C6", "the extent of the result on axis ", dimension,
                                     " does not fit 63 bits");
    sum = *next;
  }
  shape[dimension] = sum;
  types.push_back(tensorOf(shape, first.getElementType()));
  return mlir::success();
}

LogicalResult PadOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                      Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const RankedTensorType padding = tensorType(adaptor.getPaddingValue());
  if (padding.getRank() != 0)
    return violates<PadOp>(location, "I2", "padding_value must be a scalar; found ", padding);
  if (padding.getElementType() != operand.getElementType())
    return violates<PadOp>(location, "C1", "padding_value must have the operand's element type ",
                           operand.getElementType(), "; found ", padding.getElementType());
  const llvm::ArrayRef<std::int64_t> low = adaptor.getEdgePaddingLow();
  const llvm::ArrayRef<std::int64_t> high = adaptor.getEdgePaddingHigh();
  const llvm::ArrayRef<std::int64_t> interior = adaptor.getInteriorPadding();
  const auto rank = static_cast<std::size_t>(operand.getRank());
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return violates<PadOp>(location, "C2",
                           "edge_padding_low, edge_padding_high and "
                           "interior_padding must have one entry for each of the operand's ",
                           rank, " axes; found ", low.size(), ", ", high.size(), " and ",
                           interior.size());
  Extents shape = extentsOf(operand);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (interior[axis] < 0)
      return violates<PadOp>(location, "C3", "interior_padding must not be negative; found ",
                             interior[axis], " on axis ", axis);
    const std::optional<Extent> padded =
        shape[axis].map([&](std::int64_t extent) -> std::optional<std::int64_t> {
          const std::int64_t gaps = std::max<std::int64_t>(extent - 1, 0);
          std::optional<std::int64_t> sum = llvm::checkedMulAdd(gaps, interior[axis], extent);
          if (sum)
            sum = llvm::checkedAdd(*sum, low[axis]);
          if (sum)
            sum = llvm::checkedAdd(*sum, high[axis]);
          return sum && *sum >= 0 ? sum : std::nullopt;
        });
    if (!padded)
      return violates<PadOp>(location, "C4", "padding gives axis ", axis,
                             " an extent that is negative or does not fit 63 bits");
    shape[axis] = *padded;
  }
  types.push_back(tensorOf(shape, operand.getElementType()));
  return mlir::success();
}

LogicalResult ReshapeOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  const RankedTensorType result = getType();
  if (!isSameButForAxis(operand.getElementType(), result.getElementType()))
    return violates<ReshapeOp>(getLoc(), "C1",
                               "operand and result must have one element type; "
                               "found ",
                               operand.getElementType(), " and ", result.getElementType());
  if (operand.hasStaticShape() && result.hasStaticShape() &&
      operand.getNumElements() != result.getNumElements())
    return violates<ReshapeOp>(getLoc(), "C2",
                               "operand and result must have as many elements; "
                               "found ",
                               operand.getNumElements(), " in ", operand, " and ",
                               result.getNumElements(), " in ", result);
  if (failed(verifyReshapedQuantization(*this, operand, result)))
    return mlir::failure();
  return verifyResultExtents(Checker(*this), result, "stablehlo.dynamic_reshape");
}

LogicalResult ReverseOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                          Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const llvm::ArrayRef<std::int64_t> dimensions = adaptor.getDimensions();
  if (const auto repeated = firstRepeated(dimensions))
    return violates<ReverseOp>(location, "C2", "dimensions must be unique; found ", *repeated,
                               " twice in ", spell(dimensions));
  if (const auto outside = firstOutside(dimensions, operand.getRank()))
    return violates<ReverseOp>(location, "C3", "dimensions must be in [0, ", operand.getRank(),
                               "), the axes of the operand; found ", *outside);
  types.push_back(operand);
  return mlir::success();
}

LogicalResult SliceOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                        Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const llvm::ArrayRef<std::int64_t> starts = adaptor.getStartIndices();
  const llvm::ArrayRef<std::int64_t> limits = adaptor.getLimitIndices();
  const llvm::ArrayRef<std::int64_t> strides = adaptor.getStrides();
  const auto rank = static_cast<std::size_t>(operand.getRank());
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return violates<SliceOp>(location, "C2",
                             "start_indices, limit_indices and strides must have one "
                             "entry for each of the operand's ",
                             rank, " axes; found ", starts.size(), ", ", limits.size(), " and ",
                             strides.size());
  Shape shape;
  const Extents extents = extentsOf(operand);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::optional<std::int64_t> largest = extents[axis].largest();
    if (starts[axis] < 0 || starts[axis] > limits[axis] || (largest && limits[axis] > *largest))
      return violates<SliceOp>(location, "C3", "on axis ", axis, " the range ", starts[axis], ":",
                               limits[axis],
                               " must lie within 0:", largest ? std::to_string(*largest) : "?");
    if (strides[axis] <= 0)
      return violates<SliceOp>(location, "C4", "strides must be positive; found ", strides[axis],
                               " on axis ", axis);
    const std::int64_t length = limits[axis] - starts[axis];
    shape.push_back(length / strides[axis] + (length % strides[axis] != 0));
  }
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return mlir::success();
}

// Folds: an operation that moves no element is its operand, if both have the same type.

namespace {

mlir::OpFoldResult operandIf(bool isIdentity, mlir::Value operand, mlir::Type result) {
  return isIdentity && operand.getType() == result ? mlir::OpFoldResult(operand)
                                                   : mlir::OpFoldResult();
}

bool isIdentity(llvm::ArrayRef<std::int64_t> axes) {
  return llvm::all_of(llvm::enumerate(axes), [](const auto& entry) {
    return static_cast<std::int64_t>(entry.index()) == entry.value();
  });
}

} // namespace

mlir::OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  return operandIf(isIdentity(getBroadcastDimensions()) && getType().hasStaticShape(), getOperand(),
                   getType());
}

mlir::OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  return operandIf(getInputs().size() == 1, getInputs().front(), getType());
}

mlir::OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return operandIf(getType().hasStaticShape(), getOperand(), getType());
}

mlir::OpFoldResult SliceOp::fold(FoldAdaptor) {
  // On an axis of extent n, only the range 0:n has n elements.
  return operandIf(getOperand().getType().hasStaticShape(), getOperand(), getType());
}

mlir::OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return operandIf(isIdentity(getPermutation()), getOperand(), getType());
}

LogicalResult TransposeOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                            Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const llvm::ArrayRef<std::int64_t> permutation = adaptor.getPermutation();
  if (static_cast<std::int64_t>(permutation.size()) != operand.getRank() ||
      firstOutside(permutation, operand.getRank()) || firstRepeated(permutation))
    return violates<TransposeOp>(location, "C2", "permutation must have each of the operand's ",
                                 operand.getRank(), " axes once; found ", spell(permutation));
  const Extents extents = extentsOf(operand);
  Extents shape;
  for (std::int64_t axis : permutation)
    shape.push_back(extents[static_cast<std::size_t>(axis)]);
  mlir::Type element = operand.getElementType();
  if (isQuantizedPerAxis(element)) {
    // The quantization dimension moves with its axis (C4).
    numerics::QuantizedType quantized = elementType(element)->quantized();
    quantized.axis = std::distance(permutation.begin(), llvm::find(permutation, *quantized.axis));
    element = mlirType(element.getContext(), quantized);
  }
  types.push_back(tensorOf(shape, element));
  return mlir::success();
}

LogicalResult BroadcastOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                            Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  Extents shape;
  for (std::int64_t size : adaptor.getBroadcastSizes()) {
    if (size < 0)
      return violates<BroadcastOp>(location, "I2", "broadcast_sizes must not be negative; found ",
                                   spell(adaptor.getBroadcastSizes()));
    shape.push_back(Extent::known(size));
  }
  llvm::append_range(shape, extentsOf(operand));
  types.push_back(tensorOf(shape, operand.getElementType()));
  return mlir::success();
}

} // namespace octavo::stablehlo
