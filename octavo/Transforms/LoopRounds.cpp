#include "octavo/Transforms/LoopRounds.h"

#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Movement.h"

#include "mlir/IR/Matchers.h"

#include <algorithm>

namespace octavo::transforms {

static std::optional<std::int64_t> integerOf(mlir::Value value) {
  llvm::APInt number;
  return mlir::matchPattern(value, mlir::m_ConstantInt(&number))
             ? std::optional(number.getSExtValue())
             : std::nullopt;
}

std::optional<std::int64_t> roundsOf(stablehlo::WhileOp loop) {
  mlir::Block& condition = loop.getCond().front();
  auto compare = condition.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = llvm::dyn_cast<mlir::BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &condition)
    return std::nullopt;
  const unsigned place = counter.getArgNumber();
  auto next = handedAt(loop.getBody(), place).getDefiningOp<stablehlo::AddOp>();
  const mlir::Value here = loop.getBody().getArgument(place);
  if (!next || next.getLhs() != here || integerOf(next.getRhs()) != 1)
    return std::nullopt;
  const auto first = integerOf(loop->getOperand(place)), limit = integerOf(compare.getRhs());
  if (!first || !limit)
    return std::nullopt;
  return std::max<std::int64_t>(*limit - *first, 0);
}

} // namespace octavo::transforms
