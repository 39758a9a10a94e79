#include "octavo/Interpreter/StableHLO/MappedRegion.h"

#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>

namespace octavo::interpreter {

bool isElementwise(mlir::Operation& op) {
  return op.hasTrait<stablehlo::Elementwise>() || op.hasTrait<mlir::OpTrait::Elementwise>();
}

Value elementOf(const Tensor& tensor, std::int64_t i, const ElementType& type) {
  Tensor scalar = Tensor::zeros(tensor.type, {});
  std::ranges::copy(tensor.element(i), scalar.bytes.begin());
  return Value(converted(std::move(scalar), type));
}

namespace {

llvm::Expected<std::vector<ElementType>> elementTypes(mlir::Operation* op, mlir::TypeRange types) {
  std::vector<ElementType> elements;
  for (mlir::Type type : types) {
    llvm::Expected<ElementType> element = elementTypeOf(op, type);
    if (!element)
      return element.takeError();
    elements.push_back(std::move(*element));
  }
  return elements;
}

} // namespace

llvm::Expected<bool> MappedRegion::prepareSteps(Evaluation& evaluation) {
  llvm::DenseMap<mlir::Value, unsigned> places;
  mlir::Block& block = region->front();
  for (mlir::Value argument : block.getArguments()) {
    places[argument] = static_cast<unsigned>(slots.size());
    slots.emplace_back();
  }
  const auto constant = [&](mlir::Operation& op) -> llvm::Error {
    llvm::Expected<Results> value = evaluators().find(op.getName().getStringRef())(
        &op, llvm::MutableArrayRef<Value>(), evaluation);
    if (!value)
      return value.takeError();
    places[op.getResult(0)] = static_cast<unsigned>(slots.size());
    slots.emplace_back(broadcastScalar(value->front().tensor(), shape));
    return llvm::Error::success();
  };
  const auto place = [&](mlir::Value value) -> llvm::Expected<std::optional<unsigned>> {
    const auto found = places.find(value);
    if (found != places.end())
      return found->second;
    mlir::Operation* op = value.getDefiningOp();
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (op == nullptr || !op->hasTrait<mlir::OpTrait::ConstantLike>() || !type ||
        type.getRank() != 0)
      return std::nullopt;
    if (llvm::Error error = constant(*op))
      return std::move(error);
    return places.lookup(value);
  };
  for (mlir::Operation& op : block) {
    if (op.hasTrait<mlir::OpTrait::ConstantLike>())
      continue; // evaluated at its uses
    const bool isLast = op.hasTrait<mlir::OpTrait::IsTerminator>();
    if (!isLast && !isElementwise(op))
      return false;
    std::vector<unsigned> operands;
    for (mlir::Value operand : op.getOperands()) {
      llvm::Expected<std::optional<unsigned>> slot = place(operand);
      if (!slot)
        return slot.takeError();
      if (!*slot)
        return false;
      operands.push_back(**slot);
    }
    if (isLast) {
      returned = std::move(operands);
      return true;
    }
    const Evaluator evaluator = evaluators().find(op.getName().getStringRef());
    if (evaluator == nullptr || op.getNumResults() != 1)
      return false;
    const auto result = static_cast<unsigned>(slots.size());
    places[op.getResult(0)] = result;
    steps.push_back({&op, evaluator, std::move(operands), result});
    slots.emplace_back();
  }
  return false;
}

llvm::Expected<MappedRegion> MappedRegion::prepare(mlir::Region& region,
                                                   std::vector<std::int64_t> shape,
                                                   Evaluation& evaluation) {
  mlir::Operation* op = region.getParentOp();
  MappedRegion mapped(region, std::move(shape));
  llvm::Expected<std::vector<ElementType>> arguments = elementTypes(op, region.getArgumentTypes());
  if (!arguments)
    return arguments.takeError();
  mapped.arguments = std::move(*arguments);
  llvm::Expected<std::vector<ElementType>> results =
      elementTypes(op, region.front().getTerminator()->getOperandTypes());
  if (!results)
    return results.takeError();
  mapped.results = std::move(*results);
  llvm::Expected<bool> worksOnTensors = mapped.prepareSteps(evaluation);
  if (!worksOnTensors)
    return worksOnTensors.takeError();
  mapped.worksOnTensors = *worksOnTensors;
  return mapped;
}

llvm::Expected<Results> MappedRegion::apply(std::vector<Value> given,
                                            Evaluation& evaluation) const {
  if (!worksOnTensors)
    return applyAtEachPlace(given, evaluation);
  std::vector<Value> values = slots;
  std::ranges::move(given, values.begin());
  for (const Step& step : steps) {
    llvm::SmallVector<Value, 4> operands;
    for (unsigned slot : step.operands)
      operands.push_back(values[slot]);
    llvm::Expected<Results> result = step.evaluator(step.op, operands, evaluation);
    if (!result)
      return result.takeError();
    values[step.result] = std::move(result->front());
  }
  Results all;
  for (unsigned slot : returned)
    all.push_back(values[slot]);
  return all;
}

llvm::Expected<Results> MappedRegion::applyAtEachPlace(const std::vector<Value>& given,
                                                       Evaluation& evaluation) const {
  std::vector<Tensor> tensors;
  for (const ElementType& type : results)
    tensors.push_back(Tensor::zeros(type, shape));
  for (std::int64_t i = 0, n = numerics::elementCount(shape); i < n; ++i) {
    std::vector<Value> scalars;
    for (std::size_t k = 0; k < given.size(); ++k)
      scalars.push_back(elementOf(given[k].tensor(), i, arguments[k]));
    llvm::Expected<Results> values = evaluation.region(*region, std::move(scalars));
    if (!values)
      return values.takeError();
    for (std::size_t k = 0; k < tensors.size(); ++k)
      std::ranges::copy((*values)[k].tensor().bytes, tensors[k].element(i).begin());
  }
  return Results(std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
}

} // namespace octavo::interpreter
