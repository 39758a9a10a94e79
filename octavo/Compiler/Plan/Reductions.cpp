#include "octavo/Compiler/Plan/Reductions.h"

#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace octavo::compiler {

/// Whether the body is one operation on both arguments that is associative, commutative and
/// idempotent.
static bool isOrderless(mlir::Block& body) {
  return llvm::hasNItems(body, 2) &&
         llvm::isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp>(
             body.front()) &&
         llvm::all_of(body.getArguments(),
                      [&](mlir::Value side) {
                        return llvm::is_contained(body.front().getOperands(), side);
                      }) &&
         body.back().getOperand(0) == body.front().getResult(0);
}

void reduceByRows(mlir::Block& block) {
  // For shorter rows, the second reduction costs more than it saves.
  constexpr std::int64_t kLeastColumns = 16;
  for (auto reduce : llvm::make_early_inc_range(block.getOps<stablehlo::ReduceOp>())) {
    if (reduce.getInputs().size() != 1 || !isOrderless(reduce.getBody().front()))
      continue;
    const mlir::Value input = reduce.getInputs()[0];
    const llvm::ArrayRef<std::int64_t> shape = shapeOf(input);
    if (shape.size() < 2 || reduce.getDimensions().size() != shape.size() ||
        shape.back() < kLeastColumns || sizeOf(input) <= shape.back())
      continue;
    const auto last = static_cast<std::int64_t>(shape.size()) - 1;
    mlir::OpBuilder builder(reduce);
    auto ofRows = mlir::cast<stablehlo::ReduceOp>(builder.clone(*reduce));
    ofRows.setDimensions({last});
    ofRows.getResult(0).setType(
        mlir::RankedTensorType::get(shape.drop_back(), elementOf(reduce.getResult(0))));
    llvm::SmallVector<std::int64_t> others(static_cast<std::size_t>(last));
    std::iota(others.begin(), others.end(), 0);
    reduce.getInputsMutable()[0].set(ofRows.getResult(0));
    reduce.setDimensions(others);
  }
}

/// The operation with one more tensor, whose elements its body reads in place of `captured`.
static mlir::Operation* withTensorOf(mlir::Operation* op, mlir::Value captured) {
  const bool isSort = llvm::isa<stablehlo::SortOp>(op);
  const unsigned count = op->getNumResults();
  mlir::OpBuilder builder(op);
  const auto of = [&](mlir::Value value) {
    return mlir::RankedTensorType::get(shapeOf(value), elementOf(captured));
  };
  llvm::SmallVector<mlir::Value> operands(op->getOperands());
  llvm::SmallVector<mlir::Type> results(op->getResultTypes());
  operands.insert(operands.begin() + count,
                  stablehlo::BroadcastInDimOp::create(builder, op->getLoc(), of(op->getOperand(0)),
                                                      captured, builder.getDenseI64ArrayAttr({})));
  if (!isSort)
    operands.push_back(captured);
  results.push_back(of(op->getResult(0)));
  mlir::OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
  state.addRegion()->takeBody(op->getRegion(0));
  mlir::Operation* next = builder.create(state);
  mlir::Region& body = next->getRegion(0);
  // A comparator's arguments are the two sides of each tensor, next to each other.
  body.insertArgument(isSort ? 2 * count : count, captured.getType(), op->getLoc());
  const mlir::Value element = body.addArgument(captured.getType(), op->getLoc());
  captured.replaceUsesWithIf(element, [&](mlir::OpOperand& use) {
    return body.isAncestor(use.getOwner()->getParentRegion());
  });
  if (!isSort) {
    mlir::Operation* end = body.front().getTerminator();
    end->insertOperands(count, element);
  }
  op->replaceAllUsesWith(next->getResults().take_front(count));
  op->erase();
  return next;
}

void takeCaptured(mlir::Block& block) {
  for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
    if (!llvm::isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::SortOp>(op))
      continue;
    llvm::SetVector<mlir::Value> captured;
    mlir::getUsedValuesDefinedAbove(op.getRegions(), captured);
    captured.remove_if([](mlir::Value value) { return splatBits(value).has_value(); });
    const auto isScalar = [](mlir::Value value) {
      auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
      return tensor && tensor.getRank() == 0 && isCompiled(tensor.getElementType());
    };
    if (!llvm::all_of(captured, isScalar))
      continue;
    mlir::Operation* last = &op;
    for (mlir::Value value : captured)
      last = withTensorOf(last, value);
  }
}

} // namespace octavo::compiler
