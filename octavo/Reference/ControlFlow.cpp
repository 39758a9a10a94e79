// Calls, returns, composites, custom calls, tuples.
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Reference/Arithmetic.h"
#include "octavo/Reference/BlockScaling.h"
#include "octavo/Reference/CheckCalls.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/DotGeneral.h"
#include "octavo/Reference/ElementwiseEvaluator.h"
#include "octavo/Reference/Evaluation.h"
#include "octavo/Reference/Map.h"
#include "octavo/Reference/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

namespace octavo::reference {

namespace {

llvm::Expected<Results> evaluateReturn(mlir::Operation*, const Operands& operands, Evaluation&) {
  return taken(operands);
}

llvm::Expected<Results> evaluateCall(mlir::func::CallOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  return evaluation.call(op, op.getCallee(), taken(operands));
}

llvm::Expected<Results> evaluateComposite(stablehlo::CompositeOp op, const Operands& operands,
                                          Evaluation& evaluation) {
  return evaluation.call(op, op.getDecomposition(), taken(operands));
}

llvm::Expected<Results> evaluateOptimizationBarrier(stablehlo::OptimizationBarrierOp,
                                                    const Operands& operands, Evaluation&) {
  return taken(operands);
}

llvm::Expected<Value> evaluateTuple(stablehlo::TupleOp, const Operands& operands, Evaluation&) {
  return Value::tuple(taken(operands));
}

llvm::Expected<Value> evaluateGetTupleElement(stablehlo::GetTupleElementOp op,
                                              const Operands& operands, Evaluation&) {
  const std::vector<Value>& elements = operands[0].elements();
  const auto index = static_cast<std::size_t>(op.getIndex());
  if (index >= elements.size())
    return failure(op, "element " + llvm::Twine(index) + " of a tuple of " +
                           llvm::Twine(elements.size()));
  return elements[index];
}

llvm::Expected<Results> evaluateToken(mlir::Operation*, const Operands&, Evaluation&) {
  return Results{Value()};
}

llvm::Expected<Results> evaluateIf(stablehlo::IfOp op, const Operands& operands,
                                   Evaluation& evaluation) {
  return evaluation.region(
      operands[0].tensor().code(0) != 0 ? op.getTrueBranch() : op.getFalseBranch(), {});
}

llvm::Expected<Results> evaluateCase(stablehlo::CaseOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  const auto last = static_cast<std::int64_t>(op.getBranches().size()) - 1;
  const auto index = static_cast<std::int32_t>(operands[0].tensor().code(0));
  // Anything out of range, negative numbers too, is the last branch.
  const std::int64_t branch = index < 0 || index > last ? last : index;
  return evaluation.region((*op).getRegion(static_cast<unsigned>(branch)), {});
}

/// Values are handed from turn to turn, so that the body may write to what nobody else holds.
llvm::Expected<Results> evaluateWhile(stablehlo::WhileOp op, const Operands& operands,
                                      Evaluation& evaluation) {
  Results state = taken(operands);
  while (true) {
    llvm::Expected<Results> goesOn = evaluation.region(op.getCond(), state);
    if (!goesOn)
      return goesOn.takeError();
    if (goesOn->front().tensor().code(0) == 0)
      return state;
    llvm::Expected<Results> next = evaluation.region(op.getBody(), std::move(state));
    if (!next)
      return next.takeError();
    state = std::move(*next);
  }
}

/// Types of the results of a custom call, where a single tuple stands for its elements.
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

llvm::Expected<Results> quantizeCall(mlir::Operation* op, const Operands& operands) {
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

/// Block size of scales that are not padded: the extents' ratio on the last axis, if it is a whole
/// number.
std::optional<std::int64_t> impliedBlockSize(const Tensor& elements, const Tensor& scales) {
  if (elements.shape.empty() || scales.shape.empty())
    return std::nullopt;
  const std::int64_t extent = elements.shape.back(), blocks = scales.shape.back();
  if (extent == 0)
    return 1;
  return blocks == 0 || extent % blocks != 0 ? std::nullopt : std::optional(extent / blocks);
}

/// The block size that a block_scaled_dot's backend_config names, if it does: the only way to know
/// it when the scales are padded.
std::optional<std::int64_t> configuredBlockSize(mlir::Operation* op) {
  mlir::Attribute config = op->getAttr("backend_config");
  if (auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(config)) {
    llvm::Expected<llvm::json::Value> json = llvm::json::parse(text.getValue());
    if (!json) {
      llvm::consumeError(json.takeError());
      return std::nullopt;
    }
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

llvm::Expected<Results> dequantizeCall(mlir::Operation* op, const Operands& operands) {
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

/// Operands: lhs, rhs, scales of lhs [, scales of rhs [, one global scale]]. Both operands have the
/// contracted axis last, and a batch axis first if they are of rank 3.
llvm::Expected<Results> blockScaledDotCall(mlir::Operation* op, const Operands& operands) {
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

/// A value that only its distribution over devices is said of: itself, on one device.
llvm::Expected<Results> shardingCall(mlir::Operation* op, const Operands& operands) {
  if (operands.size() != 1)
    return failure(op, "a sharding takes one value");
  return taken(operands);
}

/// What jax.export asserts of the shapes that a program is called with: the first operand is true,
/// or error_message says what is wrong, with the other operands, integers, in the place of {0},
/// {1}, ...
llvm::Expected<Results> shapeAssertion(mlir::Operation* op, const Operands& operands) {
  const auto isNumber = [](const Value& value) {
    return value.isTensor() && value.tensor().type.isInteger() && value.tensor().size() == 1;
  };
  if (operands.empty() || !operands[0].isTensor() || !operands[0].tensor().type.isBoolean() ||
      operands[0].tensor().size() != 1 || !llvm::all_of(operands.drop_front(), isNumber) ||
      op->getNumResults() != 0)
    return failure(op, "shape_assertion takes a truth and the integers of its message, and gives "
                       "nothing");
  if (operands[0].tensor().code(0) != 0)
    return Results();
  const auto message = op->getAttrOfType<mlir::StringAttr>("error_message");
  std::string text = message ? message.str() : "an assertion on shapes is false";
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::string place = "{" + std::to_string(i - 1) + "}";
    const std::string number =
        std::to_string(static_cast<std::int64_t>(decodeIntegers(operands[i].tensor()).front()));
    for (std::size_t at = text.find(place); at != std::string::npos;
         at = text.find(place, at + number.size()))
      text.replace(at, place.size(), number);
  }
  return failure(op, text);
}

/// "tensor<2xf32>, tensor<i32>", for messages.
std::string operandTypes(mlir::Operation* op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(op->getOperandTypes(), stream);
  return text;
}

llvm::Expected<Results> evaluateCustomCall(stablehlo::CustomCallOp op, const Operands& operands,
                                           Evaluation& evaluation) {
  const llvm::StringRef name = op.getCallTargetName();
  if (llvm::is_contained(llvm::ArrayRef<llvm::StringRef>{"check.eq", "check.expect_almost_eq",
                                                         "check.expect_close", "check.expect_eq"},
                         name))
    return evaluateCheckCall(op, name, operands, evaluation);
  if (name == "mhlo.erf")
    return evaluateUnary<Erf>(op, operands, evaluation);
  if (llvm::is_contained(llvm::ArrayRef<llvm::StringRef>{"SPMDFullToShardShape",
                                                         "SPMDShardToFullShape", "Sharding"},
                         name))
    return shardingCall(op, operands);
  if (name == "shape_assertion")
    return shapeAssertion(op, operands);
  using Target = llvm::Expected<Results> (*)(mlir::Operation*, const Operands&);
  const Target target = llvm::StringSwitch<Target>(name)
                            .Case("__op$quantize", quantizeCall)
                            .Case("__op$dequantize", dequantizeCall)
                            .Case("__op$block_scaled_dot", blockScaledDotCall)
                            .Default(nullptr);
  if (target == nullptr)
    return failure(op, "the interpreter does not know the target '" + name + "', called on (" +
                           operandTypes(op) +
                           "); it knows __op$quantize, __op$dequantize, __op$block_scaled_dot, "
                           "mhlo.erf, Sharding, SPMDFullToShardShape, SPMDShardToFullShape, "
                           "shape_assertion and check.*");
  if (llvm::Error error = requireFloats(op, operands))
    return std::move(error);
  return target(op, operands);
}

} // namespace

void registerControlFlow(EvaluatorTable& table) {
  table.add("func.return", evaluateReturn);
  table.add("stablehlo.return", evaluateReturn);
  table.add("stablehlo.after_all", evaluateToken);
  table.add("stablehlo.create_token", evaluateToken);
  table.add<evaluateCall>();
  table.add<evaluateCase>();
  table.add<evaluateComposite>();
  table.add<evaluateCustomCall>();
  table.add<evaluateGetTupleElement>();
  table.add<evaluateIf>();
  table.add<evaluateOptimizationBarrier>();
  table.add<evaluateTuple>();
  table.add<evaluateWhile>();
}

} // namespace octavo::reference
