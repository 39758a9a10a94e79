// XLA's custom calls on block-scaled tensors (rule I15).
#include "octavo/Dialect/ConfigurationJson.h"
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Interpreter/Products/BlockScaling.h"
#include "octavo/Interpreter/Products/DotGeneral.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/Movement.h"

namespace octavo::interpreter {

namespace {

/// The types of a custom call's results; a single tuple is expanded to its elements.
std::vector<mlir::Type> flatResults(mlir::Operation* op) {
  if (op->getNumResults() == 1)
    if (auto tuple = llvm::dyn_cast<mlir::TupleType>(op->getResult(0).getType()))
      return {tuple.getTypes().begin(), tuple.getTypes().end()};
  return {op->getResultTypes().begin(), op->getResultTypes().end()};
}

llvm::Error requireFloats(mlir::Operation* op, const Operands& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].isTensor() || !operands[i].tensor().type.isFloat())
      return failure(op, "operand " + llvm::Twine(i) + " must be a tensor of floats; found " +
                             describe(operands[i]));
  return llvm::Error::success();
}

llvm::Expected<Results> quantizeCall(stablehlo::CustomCallOp op, const Operands& operands,
                                     Evaluation&) {
  if (llvm::Error error = requireFloats(op, operands))
    return std::move(error);
  const std::vector<mlir::Type> types = flatResults(op);
  if (operands.size() != 1 || types.size() != 2)
    return failure(op, "__op$quantize takes one tensor and gives elements and scales");
  llvm::Expected<TensorShape> elements = tensorShape(op, types[0]);
  if (!elements)
    return elements.takeError();
  llvm::Expected<TensorShape> scales = tensorShape(op, types[1]);
  if (!scales)
    return scales.takeError();
  const Tensor& x = operands[0].tensor();
  if (!elements->type.isFloat() || !scales->type.isFloat() || x.shape.empty() ||
      elements->shape != x.shape || scales->shape.size() != x.shape.size())
    return failure(op, "__op$quantize gives float elements of the operand's shape and float scales "
                       "of its rank");
  std::vector<std::int64_t> outer = x.shape;
  outer.back() = scales->shape.back();
  if (outer != scales->shape || (scales->shape.back() == 0 && x.shape.back() != 0) ||
      (scales->shape.back() != 0 && x.shape.back() % scales->shape.back() != 0))
    return failure(op, "the scales must divide the last axis of the operand into equal blocks and "
                       "have its other extents");
  ElementsAndScales parts =
      quantizeBlocks(x, elements->type.format(), scales->type.format(), scales->shape);
  Results values{Value(std::move(parts.elements)), Value(std::move(parts.scales))};
  if (op->getNumResults() == 1)
    return Results{Value::tuple(std::move(values))};
  return values;
}

/// The block size for scales without padding: the ratio of the extents of the last axis. nullopt if
/// it is not a whole number.
std::optional<std::int64_t> impliedBlockSize(const Tensor& elements, const Tensor& scales) {
  if (elements.shape.empty() || scales.shape.empty())
    return std::nullopt;
  const std::int64_t extent = elements.shape.back(), blocks = scales.shape.back();
  if (extent == 0)
    return 1;
  return blocks == 0 || extent % blocks != 0 ? std::nullopt : std::optional(extent / blocks);
}

/// The block size in the backend_config of a block_scaled_dot. If the scales are padded, it cannot
/// be computed from the shapes.
std::optional<std::int64_t> configuredBlockSize(mlir::Operation* op) {
  mlir::Attribute config = op->getAttr("backend_config");
  if (auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(config)) {
    const std::optional<llvm::json::Value> json = configurationJson(text.getValue());
    if (!json)
      return std::nullopt;
    const llvm::json::Object* object = json->getAsObject();
    const llvm::json::Object* inner =
        object == nullptr ? nullptr : object->getObject("block_scaled_dot_backend_config");
    const auto size = inner == nullptr ? std::nullopt : inner->getInteger("block_size");
    return size ? std::optional<std::int64_t>(*size) : std::nullopt;
  }
  return std::nullopt;
}

llvm::Expected<Tensor> dequantizeOperand(mlir::Operation* op, const Tensor& elements,
                                         const Tensor& scales,
                                         std::optional<std::int64_t> blockSize,
                                         const ElementFormat& result) {
  const std::optional<std::int64_t> size =
      blockSize ? blockSize : impliedBlockSize(elements, scales);
  if (!size)
    return failure(op, "the last axis of the scales must divide that of the elements; a padded or "
                       "short last block needs block_size in the backend config");
  if (std::string misfit = scalesMisfit(elements, scales, *size); !misfit.empty())
    return failure(op, misfit);
  return dequantizeBlocks(elements, scales, *size, result);
}

llvm::Expected<Results> dequantizeCall(stablehlo::CustomCallOp op, const Operands& operands,
                                       Evaluation&) {
  if (llvm::Error error = requireFloats(op, operands))
    return std::move(error);
  if (operands.size() != 2 || op->getNumResults() != 1)
    return failure(op, "__op$dequantize takes elements and scales and gives one tensor");
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  if (!result->type.isFloat())
    return failure(op, "__op$dequantize gives floats; found " + result->type.name());
  llvm::Expected<Tensor> tensor = dequantizeOperand(op, operands[0].tensor(), operands[1].tensor(),
                                                    std::nullopt, result->type.format());
  if (!tensor)
    return tensor.takeError();
  return Results{Value(std::move(*tensor))};
}

/// Operands: lhs, rhs, scales of lhs [, scales of rhs [, one global scale]]. In lhs and rhs the
/// contracted axis is last; in rank 3 the first axis is a batch axis.
llvm::Expected<Results> blockScaledDotCall(stablehlo::CustomCallOp op, const Operands& operands,
                                           Evaluation&) {
  if (llvm::Error error = requireFloats(op, operands))
    return std::move(error);
  if (operands.size() < 3 || operands.size() > 5 || op->getNumResults() != 1)
    return failure(op, "__op$block_scaled_dot takes 3, 4 or 5 operands and gives one tensor");
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  const Tensor& left = operands[0].tensor();
  const Tensor& right = operands[1].tensor();
  const std::size_t rank = left.shape.size();
  if (!result->type.isFloat() || (rank != 2 && rank != 3) || right.shape.size() != rank ||
      left.shape.back() != right.shape.back() ||
      (rank == 3 && left.shape.front() != right.shape.front()))
    return failure(op, "__op$block_scaled_dot multiplies [M, K] by [N, K], or [B, M, K] by "
                       "[B, N, K]; found " +
                           describe(operands[0]) + " and " + describe(operands[1]));
  const ElementFormat& format = result->type.format();
  const std::optional<std::int64_t> blockSize = configuredBlockSize(op);
  llvm::Expected<Tensor> lhs = dequantizeOperand(op, left, operands[2].tensor(), blockSize, format);
  if (!lhs)
    return lhs.takeError();
  llvm::Expected<Tensor> rhs =
      operands.size() == 3 ? llvm::Expected<Tensor>(convertElements(right, format))
                           : dequantizeOperand(op, right, operands[3].tensor(), blockSize, format);
  if (!rhs)
    return rhs.takeError();
  const auto last = static_cast<std::int64_t>(rank) - 1;
  DotDimensions dimensions{{}, {}, {last}, {last}};
  if (rank == 3)
    dimensions.lhsBatch = dimensions.rhsBatch = {0};
  Tensor product =
      dotGeneral(*lhs, *rhs, dimensions, format, defaultAccumulation(lhs->type, rhs->type, format));
  if (operands.size() == 5) {
    const Tensor& global = operands[4].tensor();
    if (global.size() != 1)
      return failure(op, "the global scale must be one number; found " + describe(operands[4]));
    const Tensor scalar = reshape(convertElements(global, format), {});
    product = map<Multiply>(product, broadcastScalar(scalar, product.shape)).value();
  }
  return Results{Value(std::move(product))};
}

} // namespace

void registerBlockScalingCalls(CustomCallTable& table) {
  table.add("__op$block_scaled_dot", blockScaledDotCall);
  table.add("__op$dequantize", dequantizeCall);
  table.add("__op$quantize", quantizeCall);
}

} // namespace octavo::interpreter
