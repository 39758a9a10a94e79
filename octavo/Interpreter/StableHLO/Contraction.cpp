// Evaluates StableHLO's contraction family.
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Einsum.h"
#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/Products/ProductKinds.h"
#include "octavo/Interpreter/StableHLO/DimensionNumbers.h"
#include "octavo/Interpreter/StableHLO/DotAlgorithm.h"
#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace octavo::interpreter {

namespace {

/// The product by rule I12, without an algorithm.
Tensor plainProduct(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                    const ElementType& result) {
  return productOfKinds(lhs, rhs, result,
                        [&](const Tensor& left, const Tensor& right, const ElementType& type) {
                          return dotGeneral(left, right, dimensions, type,
                                            defaultAccumulation(left.type, right.type, type));
                        });
}

llvm::Expected<Value> evaluateDotGeneral(stablehlo::DotGeneralOp op, const Operands& operands,
                                         Evaluation&) {
  llvm::Expected<ElementType> type = resultNumberType(op);
  if (!type)
    return type.takeError();
  Tensor lhs = operands[0].takeTensor();
  Tensor rhs = operands[1].takeTensor();
  const bool areFloats = lhs.type.isFloat() && rhs.type.isFloat() && type->isFloat();
  const DotDimensions dimensions = dotDimensions(op.getDotDimensionNumbers());
  if (!haveEqualPairs(lhs.shape, rhs.shape, dimensions))
    return failure(op, "pairs axes of different extents; found " + describe(Value(std::move(lhs))) +
                           " and " + describe(Value(std::move(rhs))));
  if (llvm::Error error = checkSize(op, dotShape(lhs.shape, rhs.shape, dimensions)))
    return std::move(error);
  if (areFloats && op.getAlgorithm())
    return Value(dotByAlgorithm(lhs, rhs, dimensions, *type, *op.getAlgorithm()));
  return Value(plainProduct(lhs, rhs, dimensions, *type));
}

/// The same; an error at `op` if the result is too large.
llvm::Expected<Tensor> product(mlir::Operation* op, const Tensor& lhs, const Tensor& rhs,
                               const DotDimensions& dimensions, const ElementType& type) {
  if (llvm::Error error = checkSize(op, dotShape(lhs.shape, rhs.shape, dimensions)))
    return std::move(error);
  return plainProduct(lhs, rhs, dimensions, type);
}

llvm::Expected<Value> evaluateDot(stablehlo::DotOp op, const Operands& operands, Evaluation&) {
  llvm::Expected<ElementType> type = resultNumberType(op);
  if (!type)
    return type.takeError();
  const Tensor& lhs = operands[0].tensor();
  const Tensor& rhs = operands[1].tensor();
  if (lhs.shape.back() != rhs.shape.front())
    return failure(op, "pairs axes of different extents; found " + describe(operands[0]) + " and " +
                           describe(operands[1]));
  llvm::Expected<Tensor> result = product(
      op, lhs, rhs, {{}, {}, {static_cast<std::int64_t>(lhs.shape.size()) - 1}, {0}}, *type);
  if (!result)
    return result.takeError();
  return Value(std::move(*result));
}

/// A tensor with a different letter for each axis.
struct Lettered {
  Tensor tensor;
  std::string letters;
};

/// Takes the diagonal of axes with the same letter.
Lettered withoutRepeats(const Tensor& tensor, llvm::StringRef letters) {
  const std::vector<std::int64_t> strides = rowMajorStrides(tensor.shape);
  Lettered result{Tensor::zeros(tensor.type, {}), {}};
  std::vector<std::int64_t> shape, steps;
  for (auto [axis, letter] : llvm::enumerate(letters)) {
    const std::size_t known = result.letters.find(letter);
    if (known != std::string::npos) {
      steps[known] += strides[axis];
      continue;
    }
    result.letters.push_back(letter);
    shape.push_back(tensor.shape[axis]);
    steps.push_back(strides[axis]);
  }
  result.tensor = pick(tensor, std::move(shape), 0, steps);
  return result;
}

/// Letters in both operands and the result are batch axes; letters in both operands only are
/// contracted. A letter in one operand only that the result lacks is summed over: the other operand
/// is repeated along it, and it is contracted.
llvm::Expected<Value> evaluateNotation(mlir::Operation* op, llvm::StringRef config,
                                       const Tensor& left, const Tensor& right) {
  llvm::Expected<ElementType> type = resultNumberType(op);
  if (!type)
    return type.takeError();
  std::string error;
  const std::optional<stablehlo::Einsum> einsum = stablehlo::parseEinsum(
      config,
      {static_cast<std::int64_t>(left.shape.size()), static_cast<std::int64_t>(right.shape.size())},
      error);
  if (!einsum)
    return failure(op, error);
  Lettered lhs = withoutRepeats(left, einsum->operands[0]);
  Lettered rhs = withoutRepeats(right, einsum->operands[1]);
  const auto isIn = [](llvm::StringRef letters, char letter) { return letters.contains(letter); };
  // Repeats each side along the letters that only the other side sums over.
  const auto extend = [&](Lettered& side, const Lettered& other) {
    for (auto [axis, letter] : llvm::enumerate(other.letters)) {
      if (isIn(side.letters, letter) || isIn(einsum->result, letter))
        continue;
      std::vector<std::int64_t> shape = side.tensor.shape, axes(shape.size());
      std::iota(axes.begin(), axes.end(), 0);
      shape.push_back(other.tensor.shape[axis]);
      side.tensor = broadcastInDim(side.tensor, std::move(shape), axes);
      side.letters.push_back(letter);
    }
  };
  const Lettered given = lhs;
  extend(lhs, rhs);
  extend(rhs, given);
  DotDimensions dimensions;
  std::string order;
  for (auto [l, letter] : llvm::enumerate(lhs.letters)) {
    const std::size_t r = rhs.letters.find(letter);
    if (r == std::string::npos)
      continue;
    if (lhs.tensor.shape[l] != rhs.tensor.shape[r])
      return failure(op, "pairs axes of different extents; found " + describe(Value(left)) +
                             " and " + describe(Value(right)));
    const bool isBatch = isIn(einsum->result, letter);
    (isBatch ? dimensions.lhsBatch : dimensions.lhsContracting)
        .push_back(static_cast<std::int64_t>(l));
    (isBatch ? dimensions.rhsBatch : dimensions.rhsContracting)
        .push_back(static_cast<std::int64_t>(r));
    if (isBatch)
      order.push_back(letter);
  }
  for (const std::string* letters : {&lhs.letters, &rhs.letters})
    for (char letter : *letters)
      if (isIn(lhs.letters, letter) != isIn(rhs.letters, letter))
        order.push_back(letter);
  llvm::Expected<Tensor> result = product(op, lhs.tensor, rhs.tensor, dimensions, *type);
  if (!result)
    return result.takeError();
  std::vector<std::int64_t> permutation;
  for (char letter : einsum->result)
    permutation.push_back(static_cast<std::int64_t>(order.find(letter)));
  return Value(transpose(*result, permutation));
}

llvm::Expected<Value> evaluateEinsum(stablehlo::EinsumOp op, const Operands& operands,
                                     Evaluation&) {
  return evaluateNotation(op, op.getEinsumConfig(), operands[0].tensor(), operands[1].tensor());
}

/// The einsum of the scalar 1 and the operand.
llvm::Expected<Value> evaluateUnaryEinsum(stablehlo::UnaryEinsumOp op, const Operands& operands,
                                          Evaluation&) {
  const Tensor& x = operands[0].tensor();
  Tensor one = Tensor::zeros(IntegerType{8, false}, {});
  one.setCode(0, 1);
  return evaluateNotation(op, ("," + op.getEinsumConfig()).str(), convertElements(one, x.type), x);
}

} // namespace

void registerContraction(EvaluatorTable& table) {
  table.addByNumbers<evaluateDot>();
  table.addByNumbers<evaluateDotGeneral>();
  table.addByNumbers<evaluateEinsum>();
  table.addByNumbers<evaluateUnaryEinsum>();
}

} // namespace octavo::interpreter
