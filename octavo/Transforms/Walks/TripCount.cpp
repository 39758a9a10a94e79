#include "octavo/Transforms/Walks/TripCount.h"

#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Walks/LoopInvariants.h"
#include "octavo/Transforms/Walks/Movement.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace octavo::transforms {

using stablehlo::ComparisonDirection;

static std::optional<std::int64_t> integerOf(mlir::Value value) {
  llvm::APInt number;
  return mlir::matchPattern(value, mlir::m_ConstantInt(&number))
             ? std::optional(number.getSExtValue())
             : std::nullopt;
}

std::optional<std::int64_t> roundsOf(stablehlo::WhileOp loop) {
  mlir::Block& condition = loop.getCond().front();
  auto compare = condition.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() != ComparisonDirection::LT)
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

namespace {

using Number = std::optional<RoundNumber>;

class RoundNumbers {
public:
  RoundNumbers(stablehlo::WhileOp loop, std::int64_t rounds) : loop(loop), rounds(rounds) {}

  /// Analyzes each value once, after its operands. Iterative, with a list of pending values.
  Number of(mlir::Value value) {
    llvm::SmallVector<mlir::Value> pending = {value};
    while (!pending.empty()) {
      const mlir::Value next = pending.back();
      if (known.contains(next)) {
        pending.pop_back();
        continue;
      }
      const std::size_t before = pending.size();
      for (mlir::Value operand : operandsOf(next))
        if (!known.contains(operand))
          pending.push_back(operand);
      if (pending.size() != before)
        continue;
      pending.pop_back();
      const Number number = find(next);
      known.try_emplace(next, number);
    }
    return known.lookup(value);
  }

private:
  /// The values that decide the number of `value`.
  llvm::SmallVector<mlir::Value> operandsOf(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (op == nullptr || op->getBlock() != &loop.getBody().front())
      return {};
    if (auto select = llvm::dyn_cast<stablehlo::SelectOp>(op)) {
      llvm::SmallVector<mlir::Value> operands = {select.getOnTrue(), select.getOnFalse()};
      if (auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>())
        llvm::append_range(operands, compare->getOperands());
      return operands;
    }
    if (llvm::isa<stablehlo::ConvertOp, stablehlo::NegOp, stablehlo::AddOp, stablehlo::SubtractOp,
                  stablehlo::MulOp>(op))
      return llvm::SmallVector<mlir::Value>(op->getOperands());
    return {};
  }

  Number find(mlir::Value value) {
    if (const auto constant = integerOf(value))
      return within(value, RoundNumber{*constant, 0});
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return argument.getOwner() == &loop.getBody().front() ? within(value, ofCarried(argument))
                                                            : std::nullopt;
    mlir::Operation* op = value.getDefiningOp();
    return op->getBlock() == &loop.getBody().front() ? within(value, ofResult(op)) : std::nullopt;
  }

  /// `number`, if its type holds it in all iterations, so that nothing wraps around. Only 31 bits
  /// are allowed, so that a product of two numbers plus a third is exact in 64 bits.
  Number within(mlir::Value value, Number number) {
    auto type = llvm::dyn_cast<mlir::IntegerType>(mlir::getElementTypeOrSelf(value.getType()));
    std::int64_t way = 0, last = 0;
    if (!type || !number || type.getWidth() == 1 ||
        llvm::MulOverflow(number->step, rounds - 1, way) ||
        llvm::AddOverflow(number->first, way, last))
      return std::nullopt;
    const unsigned width = std::min(type.getWidth(), 31u);
    const auto holds = [&](std::int64_t each) {
      return type.isUnsigned() ? each >= 0 && llvm::isUIntN(width, static_cast<std::uint64_t>(each))
                               : llvm::isIntN(width, each);
    };
    return holds(number->first) && holds(last) ? number : std::nullopt;
  }

  /// A carried value that the loop adds a constant to.
  Number ofCarried(mlir::BlockArgument argument) {
    const unsigned place = argument.getArgNumber();
    const auto first = integerOf(loop->getOperand(place));
    if (!first)
      return std::nullopt;
    if (isUnchanged(loop, place))
      return RoundNumber{*first, 0};
    mlir::Operation* next = handedAt(loop.getBody(), place).getDefiningOp();
    if (!llvm::isa_and_present<stablehlo::AddOp, stablehlo::SubtractOp>(next) ||
        next->getOperand(0) != argument)
      return std::nullopt;
    const auto step = integerOf(next->getOperand(1));
    if (!step)
      return std::nullopt;
    return RoundNumber{*first, llvm::isa<stablehlo::AddOp>(next) ? *step : -*step};
  }

  Number ofResult(mlir::Operation* op) {
    const auto operand = [&](unsigned number) { return of(op->getOperand(number)); };
    return llvm::TypeSwitch<mlir::Operation*, Number>(op)
        .Case([&](stablehlo::ConvertOp) { return operand(0); })
        .Case([&](stablehlo::NegOp) { return combined(RoundNumber{0, 0}, -1, operand(0)); })
        .Case([&](stablehlo::AddOp) { return combined(operand(0), 1, operand(1)); })
        .Case([&](stablehlo::SubtractOp) { return combined(operand(0), -1, operand(1)); })
        .Case([&](stablehlo::MulOp) {
          const Number a = operand(0), b = operand(1);
          if (!a || !b || (a->step != 0 && b->step != 0))
            return Number();
          return a->step == 0 ? combined(RoundNumber{0, 0}, a->first, b)
                              : combined(RoundNumber{0, 0}, b->first, a);
        })
        .Case([&](stablehlo::SelectOp select) {
          const auto isTaken = ofComparison(select.getPred());
          return isTaken ? operand(*isTaken ? 1 : 2) : Number();
        })
        .Default(Number());
  }

  /// a + factor * b, of numbers that `within` has accepted.
  static Number combined(Number a, std::int64_t factor, Number b) {
    if (!a || !b)
      return std::nullopt;
    return RoundNumber{a->first + factor * b->first, a->step + factor * b->step};
  }

  /// The outcome of a comparison, if it is the same in all iterations.
  std::optional<bool> ofComparison(mlir::Value predicate) {
    auto compare = predicate.getDefiningOp<stablehlo::CompareOp>();
    if (!compare)
      return std::nullopt;
    const Number a = of(compare.getLhs()), b = of(compare.getRhs());
    if (!a || !b)
      return std::nullopt;
    // A linear sequence is on one side of another in all iterations if it is so in the first and
    // the last.
    const auto isBelow = [&](const RoundNumber& low, const RoundNumber& high, std::int64_t least) {
      return high.first - low.first >= least && high.last(rounds) - low.last(rounds) >= least;
    };
    switch (compare.getComparisonDirection()) {
    case ComparisonDirection::LT:
      return decided(isBelow(*a, *b, 1), isBelow(*b, *a, 0));
    case ComparisonDirection::LE:
      return decided(isBelow(*a, *b, 0), isBelow(*b, *a, 1));
    case ComparisonDirection::GT:
      return decided(isBelow(*b, *a, 1), isBelow(*a, *b, 0));
    case ComparisonDirection::GE:
      return decided(isBelow(*b, *a, 0), isBelow(*a, *b, 1));
    default:
      return std::nullopt;
    }
  }

  static std::optional<bool> decided(bool always, bool never) {
    return always || never ? std::optional(always) : std::nullopt;
  }

  stablehlo::WhileOp loop;
  std::int64_t rounds;
  llvm::DenseMap<mlir::Value, Number> known;
};

} // namespace

std::optional<RoundNumber> roundNumber(mlir::Value value, stablehlo::WhileOp loop,
                                       std::int64_t rounds) {
  return RoundNumbers(loop, rounds).of(value);
}

} // namespace octavo::transforms
