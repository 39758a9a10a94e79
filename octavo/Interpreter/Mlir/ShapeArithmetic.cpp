// Evaluates MLIR's tensor and shape, which compute with extents. A shape is a tensor of rank 1, a
// size a tensor of rank 0. A witness only orders operations and is a token.
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Mlir/MLIRDialects.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace octavo::interpreter {

namespace {

namespace shape = mlir::shape;
namespace tensor = mlir::tensor;
using Numbers = std::vector<std::int64_t>;

const ElementType kIndex{IntegerType{64, false}};

Numbers numbersOf(const Value& value) {
  Numbers numbers;
  for (std::uint64_t number : decodeIntegers(value.tensor()))
    numbers.push_back(static_cast<std::int64_t>(number));
  return numbers;
}

std::int64_t numberOf(const Value& value) { return numbersOf(value).front(); }

Value ofNumbers(const Numbers& numbers) {
  Tensor result = Tensor::zeros(kIndex, {static_cast<std::int64_t>(numbers.size())});
  llvm::copy(numbers, result.as<std::int64_t>().begin());
  return result;
}

Value ofNumber(std::int64_t number) {
  Tensor result = Tensor::zeros(kIndex, {});
  result.as<std::int64_t>()[0] = number;
  return result;
}

std::string text(const Numbers& numbers) {
  std::string list;
  for (std::int64_t number : numbers)
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  return "[" + list + "]";
}

/// The extent of the first operand on the axis that the second operand gives.
llvm::Expected<Results> evaluateDim(mlir::Operation* op, const Operands& operands, Evaluation&) {
  const Numbers extents = operands[0].tensor().shape;
  const std::int64_t axis = numberOf(operands[1]);
  if (axis < 0 || axis >= static_cast<std::int64_t>(extents.size()))
    return failure(op, "asks for axis " + llvm::Twine(axis) + " of " + describe(operands[0]));
  return Results{ofNumber(extents[static_cast<std::size_t>(axis)])};
}

llvm::Expected<Results> evaluateRank(mlir::Operation*, const Operands& operands, Evaluation&) {
  return Results{ofNumber(static_cast<std::int64_t>(operands[0].tensor().shape.size()))};
}

llvm::Expected<Value> evaluateExtract(tensor::ExtractOp op, const Operands& operands, Evaluation&) {
  const Tensor& from = operands[0].tensor();
  Numbers start, limit;
  for (auto [axis, index] : llvm::enumerate(operands.drop_front())) {
    start.push_back(numberOf(index));
    limit.push_back(start.back() + 1);
    if (start.back() < 0 || start.back() >= from.shape[axis])
      return failure(op, "extracts element " + llvm::Twine(start.back()) + " on axis " +
                             llvm::Twine(axis) + " of " + describe(operands[0]));
  }
  return Value(reshape(slice(from, start, limit, Numbers(start.size(), 1)), {}));
}

llvm::Expected<Value> evaluateFromElements(tensor::FromElementsOp op, const Operands& operands,
                                           Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  Tensor made = Tensor::zeros(result->type, std::move(result->shape));
  for (auto [i, element] : llvm::enumerate(operands))
    llvm::copy(element.tensor().bytes, made.element(static_cast<std::int64_t>(i)).begin());
  return Value(std::move(made));
}

llvm::Expected<Value> evaluateSplat(tensor::SplatOp op, const Operands& operands, Evaluation&) {
  Numbers extents = op.getType().getShape().vec();
  std::size_t next = 1;
  for (std::int64_t& extent : extents)
    if (mlir::ShapedType::isDynamic(extent)) {
      extent = numberOf(operands[next++]);
      if (extent < 0)
        return failure(op, "is given a negative extent");
    }
  if (llvm::Error error = checkResultShape(op, extents))
    return std::move(error);
  return Value(broadcastScalar(operands[0].tensor(), std::move(extents)));
}

/// A cast that changes only the type. Like every result, this one is checked against its type.
llvm::Expected<Results> evaluateCast(mlir::Operation*, const Operands& operands, Evaluation&) {
  return Results{std::move(operands[0])};
}

llvm::Expected<Value> reshapeTo(mlir::Operation* op, const Operands& operands, Numbers extents) {
  if (llvm::any_of(extents, [](std::int64_t extent) { return extent < 0; }))
    return failure(op, "is given a shape with a negative extent");
  if (llvm::Error error = checkResultShape(op, extents))
    return std::move(error);
  if (numerics::elementCount(extents) != operands[0].tensor().size())
    return failure(op, "cannot give " + describe(operands[0]) + " the shape " + text(extents));
  return Value(reshape(operands[0].takeTensor(), std::move(extents)));
}

llvm::Expected<Value> evaluateTensorReshape(tensor::ReshapeOp op, const Operands& operands,
                                            Evaluation&) {
  return reshapeTo(op, operands, numbersOf(operands[1]));
}

llvm::Expected<Value> evaluateCollapse(tensor::CollapseShapeOp op, const Operands& operands,
                                       Evaluation&) {
  Numbers extents;
  for (const mlir::ReassociationIndices& group : op.getReassociationIndices()) {
    extents.push_back(1);
    for (std::int64_t axis : group)
      extents.back() *= operands[0].tensor().shape[static_cast<std::size_t>(axis)];
  }
  return reshapeTo(op, operands, std::move(extents));
}

llvm::Expected<Value> evaluateExpand(tensor::ExpandShapeOp op, const Operands& operands,
                                     Evaluation&) {
  Numbers extents(op.getStaticOutputShape().begin(), op.getStaticOutputShape().end());
  std::size_t next = 1;
  for (std::int64_t& extent : extents)
    if (mlir::ShapedType::isDynamic(extent))
      extent = numberOf(operands[next++]);
  return reshapeTo(op, operands, std::move(extents));
}

// Shapes

llvm::Expected<Results> evaluateShapeOf(mlir::Operation*, const Operands& operands, Evaluation&) {
  return Results{ofNumbers(operands[0].tensor().shape)};
}

llvm::Expected<Value> evaluateConstShape(shape::ConstShapeOp op, const Operands&, Evaluation&) {
  Numbers extents;
  for (const llvm::APInt& extent : op.getShape().getValues<llvm::APInt>())
    extents.push_back(extent.getSExtValue());
  return ofNumbers(extents);
}

llvm::Expected<Value> evaluateConstSize(shape::ConstSizeOp op, const Operands&, Evaluation&) {
  return ofNumber(op.getValue().getSExtValue());
}

/// The shape to which all shapes broadcast, as in NumPy; nullopt if there is none.
std::optional<Numbers> broadcastShape(const Operands& shapes) {
  Numbers common;
  for (const Value& value : shapes) {
    Numbers extents = numbersOf(value);
    if (extents.size() > common.size())
      std::swap(extents, common);
    for (std::size_t back = 1; back <= extents.size(); ++back) {
      std::int64_t& extent = common[common.size() - back];
      const std::int64_t other = extents[extents.size() - back];
      if (extent != other && extent != 1 && other != 1)
        return std::nullopt;
      extent = extent == 1 ? other : extent;
    }
  }
  return common;
}

llvm::Error notBroadcastable(mlir::Operation* op, const Operands& shapes) {
  std::string list;
  for (const Value& value : shapes)
    list += (list.empty() ? "" : " and ") + text(numbersOf(value));
  return failure(op, "the shapes " + list + " do not broadcast to one");
}

llvm::Expected<Value> evaluateShapeBroadcast(shape::BroadcastOp op, const Operands& operands,
                                             Evaluation&) {
  if (const std::optional<Numbers> common = broadcastShape(operands))
    return ofNumbers(*common);
  return notBroadcastable(op, operands);
}

llvm::Expected<Value> evaluateIsBroadcastable(shape::IsBroadcastableOp, const Operands& operands,
                                              Evaluation&) {
  Tensor result = Tensor::zeros(kBoolean, {});
  result.setCode(0, broadcastShape(operands).has_value());
  return Value(std::move(result));
}

bool areEqual(const Operands& shapes) {
  return llvm::all_of(
      shapes, [&](const Value& value) { return numbersOf(value) == numbersOf(shapes.front()); });
}

llvm::Expected<Value> evaluateShapeEq(shape::ShapeEqOp, const Operands& operands, Evaluation&) {
  Tensor result = Tensor::zeros(kBoolean, {});
  result.setCode(0, areEqual(operands));
  return Value(std::move(result));
}

/// A constraint: returns a witness if it holds, else an error.
llvm::Expected<Value> evaluateCstrBroadcastable(shape::CstrBroadcastableOp op,
                                                const Operands& operands, Evaluation&) {
  if (!broadcastShape(operands))
    return notBroadcastable(op, operands);
  return Value();
}

llvm::Expected<Value> evaluateCstrEq(shape::CstrEqOp op, const Operands& operands, Evaluation&) {
  if (!areEqual(operands))
    return failure(op, "the shapes differ: " + text(numbersOf(operands[0])) + " and others");
  return Value();
}

llvm::Expected<Value> evaluateCstrRequire(shape::CstrRequireOp op, const Operands& operands,
                                          Evaluation&) {
  if (operands[0].tensor().code(0) == 0)
    return failure(op, op.getMsg());
  return Value();
}

llvm::Expected<Results> evaluateWitness(mlir::Operation*, const Operands&, Evaluation&) {
  return Results{Value()};
}

llvm::Expected<Results> evaluateAssuming(shape::AssumingOp op, const Operands&,
                                         Evaluation& evaluation) {
  return evaluation.region(op.getDoRegion(), {});
}

llvm::Expected<Value> evaluateGetExtent(shape::GetExtentOp op, const Operands& operands,
                                        Evaluation&) {
  const Numbers extents = numbersOf(operands[0]);
  const std::int64_t axis = numberOf(operands[1]);
  if (axis < 0 || axis >= static_cast<std::int64_t>(extents.size()))
    return failure(op, "asks for axis " + llvm::Twine(axis) + " of the shape " + text(extents));
  return ofNumber(extents[static_cast<std::size_t>(axis)]);
}

llvm::Expected<Value> evaluateShapeConcat(shape::ConcatOp, const Operands& operands, Evaluation&) {
  Numbers extents = numbersOf(operands[0]);
  llvm::append_range(extents, numbersOf(operands[1]));
  return ofNumbers(extents);
}

llvm::Expected<Value> evaluateFromExtents(shape::FromExtentsOp, const Operands& operands,
                                          Evaluation&) {
  Numbers extents;
  for (const Value& extent : operands)
    extents.push_back(numberOf(extent));
  return ofNumbers(extents);
}

template <auto Compute>
llvm::Expected<Results> evaluateSizes(mlir::Operation* op, const Operands& operands, Evaluation&) {
  const std::optional<std::int64_t> result = Compute(numberOf(operands[0]), numberOf(operands[1]));
  if (!result)
    return failure(op, "divides a size by 0");
  return Results{ofNumber(*result)};
}

// Wraps if the result does not fit 64 bits.
std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  (void)__builtin_add_overflow(a, b, &result);
  return result;
}
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  (void)__builtin_mul_overflow(a, b, &result);
  return result;
}
/// The quotient, rounded towards minus infinity.
std::optional<std::int64_t> quotient(std::int64_t a, std::int64_t b) {
  if (b == 0)
    return std::nullopt;
  if (b == -1)
    return product(a, b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

llvm::Expected<Value> evaluateNumElements(shape::NumElementsOp, const Operands& operands,
                                          Evaluation&) {
  std::int64_t count = 1;
  for (std::int64_t extent : numbersOf(operands[0]))
    count = *product(count, extent);
  return ofNumber(count);
}

llvm::Expected<Value> evaluateShapeRank(shape::RankOp, const Operands& operands, Evaluation&) {
  return ofNumber(static_cast<std::int64_t>(numbersOf(operands[0]).size()));
}

} // namespace

void registerShapeArithmetic(EvaluatorTable& table) {
  table.add("tensor.cast", evaluateCast);
  table.add("tensor.dim", evaluateDim);
  table.add("tensor.rank", evaluateRank);
  table.add<evaluateCollapse>();
  table.add<evaluateExpand>();
  table.add<evaluateExtract>();
  table.add<evaluateFromElements>();
  table.add<evaluateTensorReshape>();
  table.add<evaluateSplat>();

  table.add("shape.add", evaluateSizes<sum>);
  table.add("shape.assuming_all", evaluateWitness);
  table.add("shape.assuming_yield", handOn);
  table.add("shape.const_witness", evaluateWitness);
  table.add("shape.dim", evaluateDim);
  table.add("shape.div", evaluateSizes<quotient>);
  table.add("shape.from_extent_tensor", evaluateCast);
  table.add("shape.index_to_size", evaluateCast);
  table.add("shape.mul", evaluateSizes<product>);
  table.add("shape.shape_of", evaluateShapeOf);
  table.add("shape.size_to_index", evaluateCast);
  table.add("shape.to_extent_tensor", evaluateCast);
  table.add("shape.value_as_shape", evaluateCast);
  table.add<evaluateAssuming>();
  table.add<evaluateShapeBroadcast>();
  table.add<evaluateConstShape>();
  table.add<evaluateConstSize>();
  table.add<evaluateCstrBroadcastable>();
  table.add<evaluateCstrEq>();
  table.add<evaluateCstrRequire>();
  table.add<evaluateFromExtents>();
  table.add<evaluateGetExtent>();
  table.add<evaluateIsBroadcastable>();
  table.add<evaluateNumElements>();
  table.add<evaluateShapeConcat>();
  table.add<evaluateShapeEq>();
  table.add<evaluateShapeRank>();
}

} // namespace octavo::interpreter
