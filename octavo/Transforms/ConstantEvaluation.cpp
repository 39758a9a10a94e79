#include "octavo/Transforms/ConstantEvaluation.h"

#include "octavo/Dialect/BatchExtent.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Interpreter/Interpreter.h"
#include "octavo/Interpreter/StableHLO/Constants.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using program::Value;

/// Whether the interpreter may give values of this type to the program as a constant.
bool isPlainTensor(mlir::Type type, std::int64_t maxElements) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= maxElements &&
         !stablehlo::isQuantized(tensor.getElementType());
}

/// The values of an operation's constant operands; nullopt if one is not a constant.
std::optional<std::vector<Value>> constantOperands(mlir::Operation* op) {
  std::vector<Value> values;
  for (mlir::Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<stablehlo::ConstantOp>();
    if (!constant)
      return std::nullopt;
    llvm::Expected<numerics::Tensor> tensor =
        interpreter::constantTensor(constant, constant.getValue());
    if (!tensor) {
      llvm::consumeError(tensor.takeError());
      return std::nullopt;
    }
    values.emplace_back(std::move(*tensor));
  }
  return values;
}

} // namespace

bool isFoldable(mlir::Operation* op, std::int64_t maxElements) {
  const llvm::StringRef dialect = op->getName().getDialectNamespace();
  const auto isSmall = [&](mlir::Type type) { return isPlainTensor(type, maxElements); };
  return (dialect == "stablehlo" || dialect == "chlo") && op->getNumOperands() != 0 &&
         op->getNumResults() != 0 && !op->hasTrait<mlir::OpTrait::IsTerminator>() &&
         mlir::isMemoryEffectFree(op) && !isItemNumber(op) &&
         llvm::all_of(op->getOperandTypes(), isSmall) &&
         llvm::all_of(op->getResultTypes(), isSmall);
}

bool foldConstants(mlir::Operation* op) {
  std::optional<std::vector<Value>> operands = constantOperands(op);
  if (!operands)
    return false;
  llvm::Expected<std::vector<Value>> results =
      interpreter::evaluateOperation(op, std::move(*operands), {});
  if (!results) {
    llvm::consumeError(results.takeError());
    return false;
  }
  mlir::OpBuilder builder(op);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    result.replaceAllUsesWith(stablehlo::ConstantOp::create(
        builder, op->getLoc(), interpreter::constantAttribute(op->getContext(), value.tensor())));
  op->erase();
  return true;
}

llvm::Expected<bool> evaluateOnConstants(mlir::Operation* op) {
  std::optional<std::vector<Value>> operands = constantOperands(op);
  if (!operands)
    return false;
  if (auto results = interpreter::evaluateOperation(op, std::move(*operands), {}); !results)
    return results.takeError();
  return true;
}

} // namespace octavo::transforms
