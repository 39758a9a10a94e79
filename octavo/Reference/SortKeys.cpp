#include "octavo/Reference/SortKeys.h"

#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Reference/Elements.h"
#include "octavo/Reference/MappedRegion.h"
#include "octavo/Reference/Movement.h"
#include "octavo/Reference/TotalOrder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::reference {

namespace {

using stablehlo::ComparisonDirection;
using stablehlo::ComparisonType;

/// Whether `left` is of the left elements what `right` is of the right ones: the same operations on
/// arguments 2k and 2k + 1.
bool mirrors(mlir::Value left, mlir::Value right) {
  if (const auto a = llvm::dyn_cast<mlir::BlockArgument>(left)) {
    const auto b = llvm::dyn_cast<mlir::BlockArgument>(right);
    return b && a.getOwner() == b.getOwner() && a.getArgNumber() % 2 == 0 &&
           b.getArgNumber() == a.getArgNumber() + 1;
  }
  mlir::Operation* a = left.getDefiningOp();
  mlir::Operation* b = right.getDefiningOp();
  if (b == nullptr || a->getName() != b->getName() ||
      a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary() ||
      a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute() ||
      a->getResultTypes() != b->getResultTypes() || a->getNumOperands() != b->getNumOperands())
    return false;
  if (a->hasTrait<mlir::OpTrait::ConstantLike>())
    return true;
  return isElementwise(*a) && a->getNumRegions() == 0 &&
         llvm::all_of_zip(a->getOperands(), b->getOperands(),
                          [](mlir::Value x, mlir::Value y) { return mirrors(x, y); });
}

/// One comparison of the comparator.
struct Key {
  mlir::Value left;
  bool isDescending;
  bool isTotalOrder;
};

bool isTotal(stablehlo::CompareOp compare) {
  return compare.getCompareType() == ComparisonType::TOTALORDER;
}

/// The comparisons of `value`, first to last; false where it is something else.
bool findKeys(mlir::Value value, std::vector<Key>& keys) {
  if (auto compare = value.getDefiningOp<stablehlo::CompareOp>()) {
    const ComparisonDirection direction = compare.getComparisonDirection();
    if ((direction != ComparisonDirection::LT && direction != ComparisonDirection::GT) ||
        !mirrors(compare.getLhs(), compare.getRhs()))
      return false;
    keys.push_back({compare.getLhs(), direction == ComparisonDirection::GT, isTotal(compare)});
    return true;
  }
  auto either = value.getDefiningOp<stablehlo::OrOp>();
  if (!either || !findKeys(either.getLhs(), keys))
    return false;
  auto both = either.getRhs().getDefiningOp<stablehlo::AndOp>();
  auto equal = both ? both.getLhs().getDefiningOp<stablehlo::CompareOp>() : stablehlo::CompareOp();
  return equal && equal.getComparisonDirection() == ComparisonDirection::EQ &&
         equal.getLhs() == keys.back().left && isTotal(equal) == keys.back().isTotalOrder &&
         mirrors(equal.getLhs(), equal.getRhs()) && findKeys(both.getRhs(), keys);
}

/// `value`, a function of the left elements, for the whole inputs.
class WholeInputs {
public:
  WholeInputs(const Operands& inputs, Evaluation& evaluation)
      : inputs(inputs), evaluation(evaluation) {}

  llvm::Expected<Value> of(mlir::Value value) {
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return inputs[argument.getArgNumber() / 2];
    if (const auto found = known.find(value); found != known.end())
      return found->second;
    mlir::Operation* op = value.getDefiningOp();
    llvm::SmallVector<Value, 4> operands;
    for (mlir::Value operand : op->getOperands()) {
      llvm::Expected<Value> whole = of(operand);
      if (!whole)
        return whole.takeError();
      operands.push_back(std::move(*whole));
    }
    const Evaluator evaluator = evaluators().find(op->getName().getStringRef());
    if (evaluator == nullptr)
      return failure(op, "the interpreter has no evaluator for this operation");
    llvm::Expected<Results> result = evaluator(op, operands, evaluation);
    if (!result)
      return result.takeError();
    Value whole = std::move(result->front());
    if (op->hasTrait<mlir::OpTrait::ConstantLike>())
      whole = Value(broadcastScalar(whole.tensor(), inputs[0].tensor().shape));
    known[value] = whole;
    return whole;
  }

private:
  const Operands& inputs;
  Evaluation& evaluation;
  llvm::DenseMap<mlir::Value, Value> known;
};

} // namespace

std::vector<std::int64_t> totalOrderKeys(const Tensor& tensor, bool isDescending) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(tensor.size()));
  const std::int64_t flip = isDescending ? -1 : 0;
  if (tensor.type.isFloat()) {
    const ElementFormat& format = tensor.type.format();
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = totalOrder(format, tensor.code(static_cast<std::int64_t>(i))) ^ flip;
    return keys;
  }
  // Unsigned order is signed order with the highest bit flipped.
  const IntegerType type = tensor.type.integer();
  const std::uint64_t highest =
      type.isUnsigned && type.width == 64 ? std::uint64_t{1} << 63 : std::uint64_t{0};
  const std::vector<std::uint64_t> values = decodeIntegers(tensor);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int64_t>(values[i] ^ highest) ^ flip;
  return keys;
}

llvm::Expected<std::optional<SortKeys>> sortKeys(mlir::Region& comparator, const Operands& inputs,
                                                 Evaluation& evaluation) {
  std::vector<Key> found;
  if (!findKeys(comparator.front().getTerminator()->getOperand(0), found))
    return std::nullopt;
  SortKeys keys;
  WholeInputs whole(inputs, evaluation);
  for (const Key& key : found) {
    llvm::Expected<Value> value = whole.of(key.left);
    if (!value)
      return value.takeError();
    const Tensor& tensor = value->tensor();
    if (!tensor.type.isFloat() && !tensor.type.isInteger())
      return std::nullopt;
    if (tensor.type.isInteger() || key.isTotalOrder) {
      keys.push_back(totalOrderKeys(tensor, key.isDescending));
      continue;
    }
    // IEEE's order of numbers is the total order with one zero; a NaN has no place in it.
    std::vector<double> values = decodeElements(tensor);
    if (llvm::any_of(values, [](double x) { return x != x; }))
      return std::nullopt;
    for (double& x : values)
      x += 0.0;
    keys.push_back(
        totalOrderKeys(encodeElements(kF64.format(), tensor.shape, values), key.isDescending));
  }
  return keys;
}

} // namespace octavo::reference
