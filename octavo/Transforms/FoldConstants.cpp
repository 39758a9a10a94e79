#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Reference/Constants.h"
#include "octavo/Reference/Interpreter.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

using execution::Value;

/// Whether the interpreter may give values of this type to the program as a constant.
bool isFoldable(mlir::Type type, std::int64_t maxElements) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= maxElements &&
         !stablehlo::isQuantized(tensor.getElementType());
}

/// The constants that an operation takes; nothing where one operand is none.
std::optional<std::vector<Value>> constantOperands(mlir::Operation* op) {
  std::vector<Value> values;
  for (mlir::Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<stablehlo::ConstantOp>();
    if (!constant)
      return std::nullopt;
    llvm::Expected<numerics::Tensor> tensor =
        reference::constantTensor(constant, constant.getValue());
    if (!tensor) {
      llvm::consumeError(tensor.takeError());
      return std::nullopt;
    }
    values.emplace_back(std::move(*tensor));
  }
  return values;
}

bool isCandidate(mlir::Operation* op, std::int64_t maxElements) {
  const llvm::StringRef dialect = op->getName().getDialectNamespace();
  const auto isSmall = [&](mlir::Type type) { return isFoldable(type, maxElements); };
  return (dialect == "stablehlo" || dialect == "chlo") && op->getNumOperands() != 0 &&
         op->getNumResults() != 0 && !op->hasTrait<mlir::OpTrait::IsTerminator>() &&
         mlir::isMemoryEffectFree(op) && llvm::all_of(op->getOperandTypes(), isSmall) &&
         llvm::all_of(op->getResultTypes(), isSmall);
}

void fold(mlir::Operation* op) {
  std::optional<std::vector<Value>> operands = constantOperands(op);
  if (!operands)
    return;
  llvm::Expected<std::vector<Value>> results =
      reference::evaluateOperation(op, std::move(*operands));
  if (!results)
    return llvm::consumeError(results.takeError());
  mlir::OpBuilder builder(op);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    result.replaceAllUsesWith(stablehlo::ConstantOp::create(
        builder, op->getLoc(), reference::constantAttribute(op->getContext(), value.tensor())));
  op->erase();
}

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    // In program order, so that what is folded is an operand of what follows. Operations within a
    // region that goes away with its own are not visited: those of a folded one are erased with it.
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (!isCandidate(op, maxElements))
        return mlir::WalkResult::advance();
      const bool hasRegions = op->getNumRegions() != 0;
      fold(op);
      return hasRegions ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
    });
  }
};

} // namespace

} // namespace octavo::transforms
