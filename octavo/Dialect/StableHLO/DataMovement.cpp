// Data movement family: type inference and verifiers.
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/StableHLO.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/DataMovement.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Location = std::optional<mlir::Location>;
using Shape = llvm::SmallVector<std::int64_t>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

void StableHLODialect::registerDataMovement() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/DataMovement.cpp.inc"
      >();
}

namespace {

RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

} // namespace

LogicalResult ConstantOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                           Types& types) {
  if (!isStaticTensor(adaptor.getValue().getType()))
    return violates<ConstantOp>(location, "C1",
                                "the value must be a statically shaped tensor; found ",
                                adaptor.getValue().getType());
  types.push_back(adaptor.getValue().getType());
  return mlir::success();
}

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

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

LogicalResult BroadcastInDimOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  const RankedTensorType result = getType();
  const llvm::ArrayRef<std::int64_t> dimensions = getBroadcastDimensions();
  if (operand.getElementType() != result.getElementType())
    return violates<BroadcastInDimOp>(getLoc(), "C1",
                                      "operand and result must have one element type; found ",
                                      operand.getElementType(), " and ", result.getElementType());
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
  for (auto [axis, extent] : llvm::enumerate(operand.getShape())) {
    const std::int64_t target = result.getDimSize(static_cast<unsigned>(dimensions[axis]));
    if (extent != 1 && extent != target)
      return violates<BroadcastInDimOp>(
          getLoc(), "C5", "axis ", axis, " of the operand has extent ", extent,
          ", which must be 1 or that of axis ", dimensions[axis], " of the result, ", target);
  }
  return mlir::success();
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
  Shape shape(first.getShape());
  shape[dimension] = 0;
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs())) {
    const RankedTensorType type = tensorType(input);
    if (type.getElementType() != first.getElementType())
      return violates<ConcatenateOp>(location, "C1", "inputs must have one element type; input ", i,
                                     " has ", type.getElementType(), ", input 0 has ",
                                     first.getElementType());
    Shape expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[dimension] = type.getDimSize(static_cast<unsigned>(dimension));
    if (type.getShape() != llvm::ArrayRef(expected))
      return violates<ConcatenateOp>(location, "C2", "inputs must have one shape except on axis ",
                                     dimension, "; input ", i, " has ", spell(type.getShape()),
                                     ", input 0 has ", spell(first.getShape()));
    const std::optional<std::int64_t> sum = llvm::checkedAdd(shape[dimension], expected[dimension]);
    if (!sum)
      return violates<ConcatenateOp>(location, "C6", "the extent of the result on axis ", dimension,
                                     " does not fit 63 bits");
    shape[dimension] = *sum;
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
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
  Shape shape;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (interior[axis] < 0)
      return violates<PadOp>(location, "C3", "interior_padding must not be negative; found ",
                             interior[axis], " on axis ", axis);
    const std::int64_t extent = operand.getShape()[axis];
    const std::int64_t gaps = std::max<std::int64_t>(extent - 1, 0);
    std::optional<std::int64_t> sum = llvm::checkedMulAdd(gaps, interior[axis], extent);
    if (sum)
      sum = llvm::checkedAdd(*sum, low[axis]);
    if (sum)
      sum = llvm::checkedAdd(*sum, high[axis]);
    if (!sum || *sum < 0)
      return violates<PadOp>(location, "C4", "padding gives axis ", axis,
                             " an extent that is negative or does not fit 63 bits");
    shape.push_back(*sum);
  }
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return mlir::success();
}

LogicalResult ReshapeOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  const RankedTensorType result = getType();
  if (operand.getElementType() != result.getElementType())
    return violates<ReshapeOp>(getLoc(), "C1",
                               "operand and result must have one element type; "
                               "found ",
                               operand.getElementType(), " and ", result.getElementType());
  if (operand.getNumElements() != result.getNumElements())
    return violates<ReshapeOp>(getLoc(), "C2",
                               "operand and result must have as many elements; "
                               "found ",
                               operand.getNumElements(), " in ", operand, " and ",
                               result.getNumElements(), " in ", result);
  return mlir::success();
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
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t extent = operand.getShape()[axis];
    if (starts[axis] < 0 || starts[axis] > limits[axis] || limits[axis] > extent)
      return violates<SliceOp>(location, "C3", "on axis ", axis, " the range ", starts[axis], ":",
                               limits[axis], " must lie within 0:", extent);
    if (strides[axis] <= 0)
      return violates<SliceOp>(location, "C4", "strides must be positive; found ", strides[axis],
                               " on axis ", axis);
    const std::int64_t length = limits[axis] - starts[axis];
    shape.push_back(length / strides[axis] + (length % strides[axis] != 0));
  }
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return mlir::success();
}

LogicalResult TransposeOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                            Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const llvm::ArrayRef<std::int64_t> permutation = adaptor.getPermutation();
  if (static_cast<std::int64_t>(permutation.size()) != operand.getRank() ||
      firstOutside(permutation, operand.getRank()) || firstRepeated(permutation))
    return violates<TransposeOp>(location, "C2", "permutation must have each of the operand's ",
                                 operand.getRank(), " axes once; found ", spell(permutation));
  Shape shape;
  for (std::int64_t axis : permutation)
    shape.push_back(operand.getDimSize(static_cast<unsigned>(axis)));
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return mlir::success();
}

} // namespace octavo::stablehlo
