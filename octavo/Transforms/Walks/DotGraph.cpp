#include "octavo/Transforms/Walks/DotGraph.h"

#include "octavo/Transforms/Walks/DotNumbers.h"
#include "octavo/Transforms/Walks/Inlining.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

namespace octavo::transforms {

namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// Finds the nearest dots upstream of a dot's operands.
class Upstream {
public:
  std::vector<std::size_t> of(mlir::Operation* dot) {
    add(dot->getOperands());
    while (!pending.empty())
      look(pending.pop_back_val());
    return std::move(found);
  }

private:
  void add(mlir::ValueRange values) {
    for (mlir::Value value : values)
      if (seen.insert(value).second)
        pending.push_back(value);
  }

  void look(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (op == nullptr) {
      auto argument = llvm::cast<mlir::BlockArgument>(value);
      mlir::Operation* around = argument.getOwner()->getParentOp();
      if (argument.getArgNumber() < around->getNumOperands()) // a loop's: the initial value
        add(around->getOperand(argument.getArgNumber()));
      return;
    }
    if (const auto number = numberOfDot(op)) {
      found.push_back(*number);
      return;
    }
    const unsigned index = llvm::cast<mlir::OpResult>(value).getResultNumber();
    for (mlir::Region& region : op->getRegions())
      if (!region.empty() && region.back().mightHaveTerminator())
        if (mlir::Operation* end = region.back().getTerminator(); index < end->getNumOperands())
          add(end->getOperand(index));
    add(op->getOperands());
  }

  llvm::DenseSet<mlir::Value> seen;
  llvm::SmallVector<mlir::Value> pending;
  std::vector<std::size_t> found;
};

/// Removes sources that are also reached through another source.
void leaveOutDetours(DotGraph& graph, const std::vector<std::size_t>& place) {
  std::vector<std::vector<std::size_t>> direct(graph.sources.size());
  for (const std::size_t number : graph.order) {
    // Nearest first: everything that a source depends on is already reached when it comes up.
    std::vector<std::size_t> sources = graph.sources[number];
    std::ranges::sort(sources, std::ranges::greater(),
                      [&](std::size_t source) { return place[source]; });
    llvm::DenseSet<std::size_t> reached;
    for (const std::size_t source : sources) {
      if (reached.contains(source))
        continue;
      direct[number].push_back(source);
      llvm::SmallVector<std::size_t> pending = {source};
      while (!pending.empty())
        for (const std::size_t before : direct[pending.pop_back_val()])
          if (reached.insert(before).second)
            pending.push_back(before);
    }
    std::ranges::reverse(direct[number]);
  }
  graph.sources = std::move(direct);
}

} // namespace

DotGraph dotGraph(mlir::func::FuncOp function) {
  mlir::OwningOpRef<mlir::ModuleOp> module = function->getParentOfType<mlir::ModuleOp>().clone();
  inlineCalls(*module); // a call that cannot be inlined counts as an operation
  DotGraph graph;
  std::vector<std::size_t> place; // position of each number in `order`
  module->lookupSymbol<mlir::func::FuncOp>(function.getName()).walk([&](mlir::Operation* op) {
    const auto number = numberOfDot(op);
    if (!number)
      return;
    if (*number >= place.size()) {
      place.resize(*number + 1, kNowhere);
      graph.sources.resize(*number + 1);
    }
    if (place[*number] == kNowhere) {
      place[*number] = graph.order.size();
      graph.order.push_back(*number);
    }
    for (const std::size_t source : Upstream().of(op))
      if (source < place.size() && place[source] < place[*number] &&
          !llvm::is_contained(graph.sources[*number], source))
        graph.sources[*number].push_back(source);
  });
  leaveOutDetours(graph, place);
  return graph;
}

} // namespace octavo::transforms
