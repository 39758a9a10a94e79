#include "octavo/Transforms/Walks/DotLayers.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Quantize/DotChoice.h"
#include "octavo/Transforms/Walks/Derivatives.h"
#include "octavo/Transforms/Walks/Residuals.h"
#include "octavo/Transforms/Walks/Routers.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace octavo::transforms {

namespace {

using Values = llvm::DenseSet<mlir::Value>;

bool meets(const Values& values, llvm::ArrayRef<mlir::Value> others) {
  return llvm::any_of(others, [&](mlir::Value each) { return values.contains(each); });
}

/// Whether two operands take the same part of one weight.
bool areOneWeight(const WeightTrace& a, const WeightTrace& b) {
  const auto slices = [](const WeightTrace& trace) {
    std::vector<llvm::ArrayRef<std::int64_t>> bounds;
    for (mlir::Operation* op : trace.movement)
      if (auto slice = llvm::dyn_cast<stablehlo::SliceOp>(op))
        bounds.insert(bounds.end(), {slice.getStartIndices(), slice.getLimitIndices()});
    return bounds;
  };
  return a.sources == b.sources && slices(a) == slices(b);
}

/// The forward dots with a weight. A layer whose forward dot only the backward pass needs is
/// represented by its recomputed dot.
llvm::MapVector<mlir::Operation*, const Dot*> forwardDots(llvm::ArrayRef<Dot> dots,
                                                          const Derivatives& derivatives) {
  llvm::MapVector<mlir::Operation*, const Dot*> forward, recomputed;
  for (const Dot& dot : dots) {
    if (!dot.weight() || llvm::any_of(dot.sides, std::mem_fn(&DotSide::isGradient)))
      continue;
    const Pass pass = derivatives.passOf(dot.op());
    if (pass != Pass::Backward)
      (pass == Pass::Forward ? forward : recomputed)[dot.op()] = &dot;
  }
  const llvm::MapVector<mlir::Operation*, const Dot*> known = forward;
  for (const auto& [op, dot] : recomputed)
    if (llvm::none_of(known, [&](const auto& each) {
          return areOneWeight(each.second->weight()->trace, dot->weight()->trace);
        }))
      forward[op] = dot;
  return forward;
}

/// Searches a program in execution order (or in reverse) for the first dot that isSought.
class InOrder {
public:
  InOrder(bool isReverse, llvm::function_ref<bool(mlir::Operation*)> isSought,
          const ProgramCalls& program)
      : isReverse(isReverse), isSought(isSought), program(program) {}

  mlir::Operation* in(mlir::Region& region) {
    for (mlir::Block& block : region)
      if (mlir::Operation* found = in(block))
        return found;
    return nullptr;
  }

private:
  mlir::Operation* in(mlir::Block& block) {
    if (!isReverse) {
      for (mlir::Operation& op : block)
        if (mlir::Operation* found = in(&op))
          return found;
      return nullptr;
    }
    for (mlir::Operation& op : llvm::reverse(block))
      if (mlir::Operation* found = in(&op))
        return found;
    return nullptr;
  }

  mlir::Operation* in(mlir::Operation* op) {
    if (isSought(op))
      return op;
    if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op); function && !function.isPublic())
      return nullptr; // a function is visited at its calls
    if (mlir::func::FuncOp function = program.called(op))
      return seen.insert(function).second ? in(function.getBody()) : nullptr;
    for (mlir::Region& region : op->getRegions())
      if (mlir::Operation* found = in(region))
        return found;
    return nullptr;
  }

  bool isReverse;
  llvm::function_ref<bool(mlir::Operation*)> isSought;
  const ProgramCalls& program;
  llvm::DenseSet<mlir::Operation*> seen; ///< visited functions
};

class Layers {
public:
  Layers(llvm::ArrayRef<Dot> dots, const ProgramCalls& program) : dots(dots) {
    for (const Dot& dot : dots)
      for (const DotSide& side : dot.sides)
        computed[{dot.op(), side.index}] = computedAs(side.value(), program);
  }

  /// All dots of the layer of a forward dot.
  llvm::DenseSet<mlir::Operation*> of(const Dot& forward) const {
    const DotSide& weight = *forward.weight();
    llvm::DenseSet<mlir::Operation*> layer;
    Values activations, gradients, ofOthers;
    for (const Dot& dot : dots) {
      const auto isOfLayer = [&](const DotSide& side) {
        return side.isWeight() && areOneWeight(side.trace, weight.trace);
      };
      const bool isMember = llvm::any_of(dot.sides, isOfLayer);
      if (isMember)
        layer.insert(dot.op());
      for (const DotSide& side : dot.sides) {
        if (side.isGradient && dot.weight())
          (isMember ? gradients : ofOthers).insert_range(of(side));
        else if (isMember && !side.isWeight())
          activations.insert_range(of(side));
      }
    }
    for (const Dot& dot : dots)
      if (isGradient(dot, forward, activations, gradients, ofOthers))
        layer.insert(dot.op());
    return layer;
  }

private:
  llvm::ArrayRef<mlir::Value> of(const DotSide& side) const {
    return computed.at({side.op, side.index});
  }

  /// Whether `dot` computes the gradient of the layer's weight. Layers that read the same
  /// activations are told apart by the gradients that their own dots multiply, else by the extents
  /// of their weights.
  bool isGradient(const Dot& dot, const Dot& forward, const Values& activations,
                  const Values& gradients, const Values& ofOthers) const {
    if (dot.weight() || !dot.hasGradient())
      return false;
    const DotSide& gradient = dot.sides[dot.sides[0].isGradient ? 0 : 1];
    const DotSide& activation = dot.sides[1 - gradient.index];
    if (!meets(activations, of(activation)))
      return false;
    if (meets(gradients, of(gradient)))
      return true;
    const auto extents = [](const Dot& of, unsigned index) {
      return index == 0 ? of.record.m : of.record.n;
    };
    return !meets(ofOthers, of(gradient)) && extents(dot, activation.index) == forward.record.k &&
           extents(dot, gradient.index) == extents(forward, forward.weight()->index);
  }

  llvm::ArrayRef<Dot> dots;
  std::map<std::pair<mlir::Operation*, unsigned>, llvm::SmallVector<mlir::Value>> computed;
};

} // namespace

DotLayers::DotLayers(llvm::ArrayRef<Dot> dots, const std::set<DotPlace>& places,
                     llvm::function_ref<bool(mlir::Value)> isWeight, const ProgramCalls& program,
                     const Derivatives& derivatives) {
  const llvm::MapVector<mlir::Operation*, const Dot*> forward = forwardDots(dots, derivatives);
  if (forward.empty())
    return;
  const Layers layers(dots, program);
  auto module = forward.begin()->first->getParentOfType<mlir::ModuleOp>();
  const auto isSought = [&](mlir::Operation* op) { return forward.contains(op); };
  for (const DotPlace place : places) {
    if (place == DotPlace::Router) {
      for (const auto& [op, dot] : forward)
        if (isRouter(dot->op(), dot->weight()->index, isWeight, program))
          members[place].insert_range(layers.of(*dot));
    } else if (mlir::Operation* found =
                   InOrder(place == DotPlace::Last, isSought, program).in(module.getBodyRegion())) {
      members[place] = layers.of(*forward.lookup(found));
    }
  }
}

bool DotLayers::has(DotPlace place, mlir::Operation* dot) const {
  const auto found = members.find(place);
  return found != members.end() && found->second.contains(dot);
}

} // namespace octavo::transforms
