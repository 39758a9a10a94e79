// Evaluates StableHLO's sort family.
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/StableHLO/MappedRegion.h"
#include "octavo/Interpreter/StableHLO/SortKeys.h"
#include "octavo/Interpreter/StableHLO/SortedBy.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include <numeric>

namespace octavo::interpreter {

namespace {

/// Sorts element numbers by a comparator that may fail or be inconsistent.
class RegionSorter {
public:
  RegionSorter(const MappedRegion& comparator, const Operands& inputs, Evaluation& evaluation)
      : comparator(comparator), inputs(inputs), evaluation(evaluation) {}

  /// A stable merge sort: at most n log n comparisons, even if the comparator is inconsistent.
  llvm::Error sort(std::span<std::int64_t> order) {
    std::vector<std::int64_t> from(order.begin(), order.end()), to(order.size());
    for (std::size_t run = 1; run < order.size(); run *= 2) {
      for (std::size_t start = 0; start < order.size(); start += 2 * run) {
        const std::size_t middle = std::min(start + run, order.size());
        const std::size_t end = std::min(start + 2 * run, order.size());
        std::size_t left = start, right = middle;
        for (std::size_t i = start; i < end; ++i) {
          bool takesRight = left == middle;
          if (!takesRight && right < end) {
            llvm::Expected<bool> isLess = less(from[right], from[left]);
            if (!isLess)
              return isLess.takeError();
            takesRight = *isLess;
          }
          to[i] = from[takesRight ? right++ : left++];
        }
      }
      std::swap(from, to);
    }
    std::ranges::copy(from, order.begin());
    return llvm::Error::success();
  }

private:
  llvm::Expected<bool> less(std::int64_t a, std::int64_t b) {
    std::vector<Value> arguments;
    for (const Value& input : inputs) {
      arguments.push_back(elementOf(input.tensor(), a, input.tensor().type));
      arguments.push_back(elementOf(input.tensor(), b, input.tensor().type));
    }
    llvm::Expected<Results> result = comparator.apply(std::move(arguments), evaluation);
    if (!result)
      return result.takeError();
    return result->front().tensor().code(0) != 0;
  }

  const MappedRegion& comparator;
  const Operands& inputs;
  Evaluation& evaluation;
};

llvm::Expected<Results> evaluateSort(stablehlo::SortOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  const auto rank = static_cast<std::int64_t>(operands[0].tensor().shape.size());
  const auto given = static_cast<std::int64_t>(op.getDimension());
  llvm::Expected<Permutation> permutation =
      sortedBy(op.getComparator(), operands, given < 0 ? given + rank : given, evaluation);
  if (!permutation)
    return permutation.takeError();
  Results results;
  for (const Value& operand : operands)
    results.emplace_back(permutation->apply(operand.tensor()));
  return results;
}

} // namespace

llvm::Expected<Permutation> sortedBy(mlir::Region& comparator, const Operands& inputs,
                                     std::int64_t axis, Evaluation& evaluation) {
  Permutation permutation(inputs[0].tensor().shape, axis);
  llvm::Expected<std::optional<SortKeys>> keys = sortKeys(comparator, inputs, evaluation);
  if (!keys)
    return keys.takeError();
  if (*keys) {
    permutation.sort(**keys);
    return permutation;
  }
  llvm::Expected<MappedRegion> region = MappedRegion::prepare(comparator, {}, evaluation);
  if (!region)
    return region.takeError();
  RegionSorter sorter(*region, inputs, evaluation);
  for (std::int64_t line = 0; line < permutation.lines(); ++line)
    if (llvm::Error error = sorter.sort(permutation.line(line)))
      return std::move(error);
  return permutation;
}

void registerSort(EvaluatorTable& table) { table.add<evaluateSort>(); }

} // namespace octavo::interpreter
