#include "octavo/Transforms/Walks/NarrowReach.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Recover/DecodedCodes.h"
#include "octavo/Transforms/Recover/ScaledCalls.h"
#include "octavo/Transforms/Recover/ScaledIntegers.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace octavo::transforms {

namespace {

/// The values that a value is computed from.
struct Sources {
  llvm::SmallVector<mlir::Value, 4> all;
  mlir::Value first = {}; ///< the initial value, if a loop carries the value
};

Sources sourcesOfArgument(mlir::BlockArgument argument) {
  mlir::Operation* around = argument.getOwner()->getParentOp();
  const unsigned number = argument.getArgNumber();
  if (!llvm::isa_and_nonnull<stablehlo::WhileOp, sdy::ManualComputationOp>(around) ||
      number >= around->getNumOperands())
    return {};
  if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around))
    return {{loop.getBody().front().getTerminator()->getOperand(number)},
            around->getOperand(number)};
  return {{around->getOperand(number)}};
}

Sources sourcesOf(mlir::Value value) {
  if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
    return sourcesOfArgument(argument);
  mlir::Operation* op = value.getDefiningOp();
  const unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
  if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
    return {{loop.getBody().getArgument(number)}};
  if (llvm::isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::EinsumOp,
                stablehlo::ConvolutionOp, stablehlo::DynamicConvOp, chlo::RaggedDotOp,
                stablehlo::ReduceOp, stablehlo::CompareOp, stablehlo::GetDimensionSizeOp,
                ir::DotGeneralOp, ir::FusedDotOp>(op) ||
      isScaledCall(op))
    return {};
  if (llvm::isa<stablehlo::IfOp, stablehlo::CaseOp, sdy::ManualComputationOp>(op)) {
    Sources sources;
    for (mlir::Region& region : op->getRegions())
      sources.all.push_back(region.front().getTerminator()->getOperand(number));
    return sources;
  }
  if (makesEachOfOne(op))
    return {{op->getOperand(number)}};
  return {llvm::to_vector<4>(op->getOperands())};
}

/// Decides about a value and all values that it is computed from, up to those in `known`.
class Reached {
public:
  Reached(Narrow sought, llvm::DenseMap<mlir::Value, bool>& known) : sought(sought), known(known) {}

  void answer(mlir::Value value) {
    placeOf(value);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      expand(i);
    spread();
    dropFirstRounds();
    for (const Node& node : nodes)
      known[node.value] = node.isNarrow;
  }

private:
  struct Node {
    mlir::Value value;
    llvm::SmallVector<std::size_t, 4> users = {}; ///< values computed from this one; without loop
                                                  ///< values that start as it
    llvm::SmallVector<std::size_t, 1> firstOf = {};
    std::size_t narrowSources = 0;
    bool isSource = false; ///< narrow itself, whatever it is computed from
    bool isNarrow = false;
  };

  bool isSought(mlir::Value value) const {
    return isCodes(value) || (sought == Narrow::CodesAndScales && isE8m0(value));
  }

  std::size_t placeOf(mlir::Value value) {
    const auto [found, isNew] = places.try_emplace(value, nodes.size());
    if (isNew)
      nodes.push_back({value});
    return found->second;
  }

  void expand(std::size_t place) {
    const mlir::Value value = nodes[place].value;
    const auto before = known.find(value);
    if (before != known.end() || isSought(value) || value.getDefiningOp<ir::DequantizeOp>() ||
        (value.getDefiningOp() != nullptr && sideOfIntegers(value.getDefiningOp())) ||
        decodedCodes(value)) {
      nodes[place].isSource = before == known.end() || before->second;
      return;
    }
    const Sources sources = sourcesOf(value);
    for (mlir::Value each : sources.all) {
      const std::size_t source = placeOf(each);
      nodes[source].users.push_back(place);
    }
    if (sources.first) {
      const std::size_t source = placeOf(sources.first);
      nodes[source].firstOf.push_back(place);
    }
  }

  /// Marks the values that are narrow in any iteration.
  void spread() {
    llvm::SmallVector<std::size_t> next;
    const auto mark = [&](std::size_t place) {
      if (!nodes[place].isNarrow)
        next.push_back(place);
      nodes[place].isNarrow = true;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].isSource)
        mark(i);
    while (!next.empty()) {
      const Node& node = nodes[next.pop_back_val()];
      llvm::for_each(node.users, mark);
      llvm::for_each(node.firstOf, mark);
    }
  }

  /// Unmarks values that are narrow only in the first iteration of a loop, and the values computed
  /// from them.
  void dropFirstRounds() {
    for (const Node& node : nodes)
      if (node.isNarrow)
        for (std::size_t user : node.users)
          ++nodes[user].narrowSources;
    llvm::SmallVector<std::size_t> next;
    const auto dropUnsupported = [&](std::size_t place) {
      Node& node = nodes[place];
      if (!node.isNarrow || node.isSource || node.narrowSources > 0)
        return;
      node.isNarrow = false;
      next.push_back(place);
    };
    for (std::size_t i = 0; i < nodes.size(); ++i)
      dropUnsupported(i);
    while (!next.empty())
      for (std::size_t user : nodes[next.pop_back_val()].users) {
        --nodes[user].narrowSources;
        dropUnsupported(user);
      }
  }

  const Narrow sought;
  llvm::DenseMap<mlir::Value, bool>& known;
  llvm::DenseMap<mlir::Value, std::size_t> places;
  std::vector<Node> nodes;
};

} // namespace

bool NarrowReach::covers(mlir::Value value) {
  if (!known.contains(value))
    Reached(sought, known).answer(value);
  return known[value];
}

} // namespace octavo::transforms
