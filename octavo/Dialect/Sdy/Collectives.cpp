// Verifiers of Shardy's collectives: constraints (C1) to (C6) of Collectives.td.
#include "octavo/Dialect/Sdy/Axes.h"
#include "octavo/Dialect/Sdy/Sharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

namespace octavo::sdy {

using llvm::LogicalResult;

namespace {

/// Whether an operand without a sharding is refused, or counts as not sharded.
enum class Unsharded { Refused, Whole };

/// The shardings of a collective's operand and result, which are on one mesh.
class Reshaping {
public:
  explicit Reshaping(mlir::Operation* op) : op(op) {}

  /// Verifies what all collectives require: (S2) to (S8), (C1) and (C2).
  LogicalResult prepare(TensorShardingAttr out, Unsharded unsharded) {
    if (failed(verifySharding(op, "the result's sharding", out, op->getResult(0).getType())))
      return mlir::failure();
    mesh = meshOf(out, op);
    const TensorShardingAttr in = shardingOf(op->getOperand(0));
    if (!in && unsharded == Unsharded::Refused)
      return op->emitOpError() << "(C1) needs an operand with a sharding";
    const mlir::Type type = op->getOperand(0).getType();
    if (in && failed(verifySharding(op, "the operand's sharding", in, type)))
      return mlir::failure();
    const MeshAttr before = in ? meshOf(in, op) : mesh;
    if (before != mesh &&
        !(llvm::isa<CollectivePermuteOp>(op) && before.getAxes() == mesh.getAxes()))
      return op->emitOpError() << "(C2) needs operand and result on one mesh; found " << before
                               << " and " << mesh;
    const auto rank = static_cast<std::size_t>(
        llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getRank());
    for (TensorShardingAttr sharding : {in, out})
      if (sharding && sharding.getDimShardings().size() != rank)
        return op->emitOpError() << "(C1) needs shardings with " << rank << " dimensions; found "
                                 << sharding;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      operand.emplace_back(
          in ? in.getDimShardings()[axis].getAxes() : llvm::ArrayRef<AxisRefAttr>(), mesh);
      result.emplace_back(out.getDimShardings()[axis].getAxes(), mesh);
    }
    if (in) {
      replicated = AxisSpans(in.getReplicatedAxes(), mesh);
      unreduced = AxisSpans(in.getUnreducedAxes(), mesh);
    }
    outUnreduced = AxisSpans(out.getUnreducedAxes(), mesh);
    return mlir::success();
  }

  AxisChecker checker(llvm::StringRef name) const { return {op, name.str(), mesh}; }

  AxisSpans spansOf(llvm::ArrayRef<AxisRefAttr> axes) const { return {axes, mesh}; }

  /// (C3) for the axes of all dimensions.
  LogicalResult check(llvm::StringRef name, ListOfAxisRefListsAttr axes) {
    if (axes.getValue().size() != operand.size())
      return op->emitOpError() << "(C3) needs axes for each of " << operand.size()
                               << " dimensions; found " << axes.getValue().size();
    AxisChecker own = checker(name);
    for (AxisRefListAttr list : axes.getValue())
      if (failed(own.check(list.getValue())))
        return mlir::failure();
    return mlir::success();
  }

  /// Removes axes from the inner end of one of the operand's dimensions: (C4).
  LogicalResult take(std::size_t dimension, llvm::ArrayRef<AxisRefAttr> axes) {
    if (operand[dimension].take(spansOf(axes)))
      return mlir::success();
    return op->emitOpError() << "(C4) needs the axes " << spansOf(axes).spell(mesh)
                             << " at the end of dimension " << dimension
                             << " of the operand, which is cut along "
                             << spelled(operand[dimension]);
  }

  void append(std::size_t dimension, llvm::ArrayRef<AxisRefAttr> axes) {
    operand[dimension].append(spansOf(axes));
  }

  /// (C4): after the changes, the operand's sharding must equal the result's.
  LogicalResult verifyDimensions() {
    for (auto [i, expected, found] : llvm::enumerate(operand, result))
      if (!(expected == found))
        return op->emitOpError() << "(C4) needs a result that is cut along " << spelled(expected)
                                 << " in dimension " << i << "; found " << spelled(found);
    return mlir::success();
  }

  /// (C6): the result's unreduced axes must be the operand's and `axes`.
  LogicalResult verifyUnreduced(const AxisSpans& axes) {
    AxisSpans expected = unreduced;
    expected.append(axes);
    expected = expected.sorted(mesh);
    if (expected == outUnreduced.sorted(mesh))
      return mlir::success();
    return op->emitOpError() << "(C6) needs a result that is unreduced along " << spelled(expected)
                             << "; found " << spelled(outUnreduced);
  }

  std::string spelled(const AxisSpans& spans) const {
    const std::string text = spans.spell(mesh);
    return text.empty() ? "no axes" : text;
  }

  llvm::SmallVector<AxisSpans> operand, result;
  AxisSpans replicated, unreduced, outUnreduced;

private:
  mlir::Operation* op;
  MeshAttr mesh;
};

LogicalResult verifyGather(mlir::Operation* op, llvm::StringRef name, ListOfAxisRefListsAttr axes,
                           TensorShardingAttr out, Reshaping& reshaping) {
  if (failed(reshaping.prepare(out, Unsharded::Refused)) || failed(reshaping.check(name, axes)))
    return mlir::failure();
  for (auto [i, list] : llvm::enumerate(axes.getValue()))
    if (failed(reshaping.take(i, AxisRefListAttr(list).getValue())))
      return mlir::failure();
  return reshaping.verifyDimensions();
}

LogicalResult verifySlice(mlir::Operation* op, llvm::StringRef name, ListOfAxisRefListsAttr axes,
                          TensorShardingAttr out) {
  Reshaping reshaping(op);
  if (failed(reshaping.prepare(out, Unsharded::Whole)) || failed(reshaping.check(name, axes)))
    return mlir::failure();
  for (auto [i, list] : llvm::enumerate(axes.getValue()))
    reshaping.append(i, AxisRefListAttr(list).getValue());
  return reshaping.verifyDimensions();
}

} // namespace

LogicalResult AllGatherOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  Reshaping reshaping(*this);
  return verifyGather(*this, "gathering_axes", getGatheringAxes(), getOutSharding(), reshaping);
}

LogicalResult AllSliceOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return verifySlice(*this, "slicing_axes", getSlicingAxes(), getOutSharding());
}

LogicalResult ReduceScatterOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return verifySlice(*this, "reduce_scatter_axes", getReduceScatterAxes(), getOutSharding());
}

LogicalResult ShardedToUnreducedOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  Reshaping reshaping(*this);
  if (failed(verifyGather(*this, "axes", getAxes(), getOutSharding(), reshaping)))
    return mlir::failure();
  AxisSpans moved;
  for (AxisRefListAttr list : getAxes().getValue())
    moved.append(reshaping.spansOf(list.getValue()));
  return reshaping.verifyUnreduced(moved);
}

LogicalResult AllToAllOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  Reshaping reshaping(*this);
  if (failed(reshaping.prepare(getOutSharding(), Unsharded::Refused)))
    return mlir::failure();
  const auto params = getParams().getValue();
  if (params.empty())
    return emitOpError() << "(C3) needs an entry in params";
  const auto rank = static_cast<std::int64_t>(reshaping.operand.size());
  llvm::SmallSet<std::int64_t, 8> seen;
  AxisChecker checker = reshaping.checker("params");
  std::int64_t last = -1;
  for (AllToAllParamAttr param : params) {
    for (const std::int64_t dimension : {param.getSrcDim(), param.getTgtDim()}) {
      if (dimension < 0 || dimension >= rank)
        return emitOpError() << "(C3) needs dimensions in [0, " << rank << "); found " << dimension;
      if (!seen.insert(dimension).second)
        return emitOpError() << "(C3) names dimension " << dimension << " twice";
    }
    if (param.getSrcDim() < last)
      return emitOpError() << "(C3) needs sources that ascend; found " << param.getSrcDim()
                           << " after " << last;
    last = param.getSrcDim();
    if (param.getAxes().empty())
      return emitOpError() << "(C3) needs axes that go from dimension " << last;
    if (failed(checker.check(param.getAxes())))
      return mlir::failure();
  }
  for (AllToAllParamAttr param : params) {
    if (failed(reshaping.take(static_cast<std::size_t>(param.getSrcDim()), param.getAxes())))
      return mlir::failure();
    reshaping.append(static_cast<std::size_t>(param.getTgtDim()), param.getAxes());
  }
  return reshaping.verifyDimensions();
}

LogicalResult CollectivePermuteOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  Reshaping reshaping(*this);
  if (failed(reshaping.prepare(getOutSharding(), Unsharded::Refused)))
    return mlir::failure();
  for (auto [i, before, after] : llvm::enumerate(reshaping.operand, reshaping.result))
    if (before.parts() != after.parts())
      return emitOpError() << "(C4) needs a result that is cut into " << before.parts()
                           << " in dimension " << i << ", as its operand; found " << after.parts();
  return mlir::success();
}

LogicalResult AllReduceOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  Reshaping reshaping(*this);
  const auto axes = getReductionAxes().getValue();
  if (failed(reshaping.prepare(getOutSharding(), Unsharded::Whole)) ||
      failed(reshaping.checker("reduction_axes").checkOrdered(axes)) ||
      failed(reshaping.verifyDimensions()))
    return mlir::failure();
  const AxisSpans reduced = reshaping.spansOf(axes);
  if (reduced.overlap(reshaping.replicated) ||
      llvm::any_of(reshaping.operand,
                   [&](const AxisSpans& dimension) { return reduced.overlap(dimension); }))
    return emitOpError() << "(C5) sums along " << reshaping.spelled(reduced)
                         << ", which the operand is cut along or replicated on";
  if (reduced.overlap(reshaping.outUnreduced))
    return emitOpError() << "(C5) sums along " << reshaping.spelled(reduced)
                         << ", which the result leaves unreduced";
  return mlir::success();
}

LogicalResult ReplicatedToUnreducedOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  Reshaping reshaping(*this);
  const auto axes = getAxes().getValue();
  if (failed(reshaping.prepare(getOutSharding(), Unsharded::Refused)) ||
      failed(reshaping.checker("axes").checkOrdered(axes)))
    return mlir::failure();
  if (axes.empty())
    return emitOpError() << "(C5) needs axes";
  const AxisSpans made = reshaping.spansOf(axes);
  if (made.overlap(reshaping.unreduced) ||
      llvm::any_of(reshaping.operand,
                   [&](const AxisSpans& dimension) { return made.overlap(dimension); }))
    return emitOpError() << "(C5) names " << reshaping.spelled(made)
                         << ", which the operand is cut along or unreduced on";
  if (failed(reshaping.verifyDimensions()))
    return mlir::failure();
  return reshaping.verifyUnreduced(made);
}

} // namespace octavo::sdy
