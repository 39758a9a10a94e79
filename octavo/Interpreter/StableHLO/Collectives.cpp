// Evaluates StableHLO's collectives family.
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Interpreter/StableHLO/Combiner.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/StableHLO/MappedRegion.h"
#include "octavo/Interpreter/StableHLO/ProcessGroups.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/UniformQuantization.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

using stablehlo::GroupKind;

/// A group of processes and the values that each of them contributed.
struct Gathered {
  std::vector<std::int64_t> group;
  std::vector<Results> values;

  std::size_t placeOf(std::int64_t process) const {
    return static_cast<std::size_t>(llvm::find(group, process) - group.begin());
  }
  const Tensor& tensor(std::size_t place, std::size_t operand) const {
    return values[place][operand].tensor();
  }
};

/// Exchanges values with the processes of the group; empty if the process is in no group.
llvm::Expected<Gathered> gather(mlir::Operation* op, mlir::Attribute groups,
                                std::optional<stablehlo::ChannelHandleAttr> handle, GroupKind kind,
                                Coverage coverage, const Operands& operands,
                                Evaluation& evaluation) {
  llvm::Expected<std::vector<std::int64_t>> group =
      processGroup(op, groups, kind, coverage, evaluation);
  if (!group)
    return group.takeError();
  if (group->empty())
    return Gathered{};
  const std::string name =
      (op->getName().getStringRef() + " " + llvm::Twine(stablehlo::channelId(handle))).str();
  auto values = evaluation.grid().meet(op, evaluation.process(), name, *group,
                                       Results(operands.begin(), operands.end()));
  if (!values)
    return values.takeError();
  const Results& own = (*values)[static_cast<std::size_t>(llvm::find(*group, evaluation.process()) -
                                                          group->begin())];
  for (const Results& other : *values) {
    bool fits = other.size() == own.size();
    for (std::size_t k = 0; fits && k < own.size(); ++k)
      fits = other[k].tensor().type == own[k].tensor().type &&
             other[k].tensor().shape == own[k].tensor().shape;
    if (!fits)
      return failure(op, "the processes of a group have operands of several types");
  }
  return Gathered{std::move(*group), std::move(*values)};
}

/// The same, for an operation whose groups must have all processes.
template <typename Op>
llvm::Expected<Gathered> gatherAll(Op op, const Operands& operands, Evaluation& evaluation) {
  const GroupKind kind = stablehlo::reducingGroups(stablehlo::channelId(op.getChannelHandle()),
                                                   op.getUseGlobalDeviceIds());
  return gather(op, op.getReplicaGroups(), op.getChannelHandle(), kind, Coverage::All, operands,
                evaluation);
}

/// Zeros like `tensor`.
Tensor zerosLike(const Tensor& tensor) {
  if (tensor.type.isQuantized())
    return quantizeUniform(Tensor::zeros(*tensor.type.quantized().expressed, tensor.shape),
                           tensor.type);
  return Tensor::zeros(tensor.type, tensor.shape);
}

/// Reduces the values of the processes, in the order of the group, starting with the first.
llvm::Expected<Tensor> reduce(mlir::Operation* op, mlir::Region& computation,
                              const Gathered& gathered, std::size_t operand,
                              const ElementType& type, Evaluation& evaluation) {
  const Tensor& first = gathered.tensor(0, operand);
  const std::size_t count = gathered.group.size();
  if (const Combiner* combiner = findCombiner(computation, type)) {
    const ElementType running = runningType(type);
    Tensor sum = converted(first, running);
    for (std::size_t place = 1; place < count; ++place) {
      auto next = combiner->map(sum, converted(gathered.tensor(place, operand), running));
      if (!next)
        return failure(op, next.error().message());
      sum = std::move(*next);
    }
    return converted(std::move(sum), type);
  }
  llvm::Expected<MappedRegion> body = MappedRegion::prepare(computation, first.shape, evaluation);
  if (!body)
    return body.takeError();
  Value sum(converted(first, body->argumentTypes()[0]));
  for (std::size_t place = 1; place < count; ++place) {
    std::vector<Value> arguments{std::move(sum), Value(converted(gathered.tensor(place, operand),
                                                                 body->argumentTypes()[1]))};
    llvm::Expected<Results> next = body->apply(std::move(arguments), evaluation);
    if (!next)
      return next.takeError();
    sum = std::move(next->front());
  }
  return converted(sum.takeTensor(), type);
}

/// Part number `part` along `axis`, of parts that have extent `size`.
Tensor partOf(const Tensor& tensor, std::int64_t axis, std::size_t part, std::int64_t size) {
  std::vector<std::int64_t> start(tensor.shape.size(), 0), limit = tensor.shape;
  start[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(part) * size;
  limit[static_cast<std::size_t>(axis)] = start[static_cast<std::size_t>(axis)] + size;
  return slice(tensor, start, limit, std::vector<std::int64_t>(tensor.shape.size(), 1));
}

llvm::Expected<Results> evaluateAllGather(stablehlo::AllGatherOp op, const Operands& operands,
                                          Evaluation& evaluation) {
  auto gathered = gatherAll(op, operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  Results results;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::vector<const Tensor*> parts;
    for (const Results& one : gathered->values)
      parts.push_back(&one[k].tensor());
    results.emplace_back(concatenate(parts, static_cast<std::int64_t>(op.getAllGatherDim())));
  }
  return results;
}

llvm::Expected<Results> evaluateAllReduce(stablehlo::AllReduceOp op, const Operands& operands,
                                          Evaluation& evaluation) {
  auto gathered = gatherAll(op, operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  Results results;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    auto type = elementTypeOf(op, op.getResult(static_cast<unsigned>(k)).getType());
    if (!type)
      return type.takeError();
    auto sum = reduce(op, op.getComputation(), *gathered, k, *type, evaluation);
    if (!sum)
      return sum.takeError();
    results.emplace_back(std::move(*sum));
  }
  return results;
}

llvm::Expected<Results> evaluateAllToAll(stablehlo::AllToAllOp op, const Operands& operands,
                                         Evaluation& evaluation) {
  const auto split = static_cast<std::int64_t>(op.getSplitDimension());
  const auto count = static_cast<std::int64_t>(op.getSplitCount());
  const GroupKind kind = stablehlo::exchangingGroups(stablehlo::channelId(op.getChannelHandle()));
  auto gathered = gather(op, op.getReplicaGroups(), op.getChannelHandle(), kind, Coverage::All,
                         operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  if (static_cast<std::int64_t>(gathered->group.size()) != count)
    return failure(op, "split_count is " + llvm::Twine(count) + ", but the group has " +
                           llvm::Twine(gathered->group.size()) + " processes");
  const std::size_t self = gathered->placeOf(evaluation.process());
  Results results;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::int64_t extent = gathered->tensor(0, k).shape[static_cast<std::size_t>(split)];
    if (extent % count != 0)
      return failure(op, "split_count " + llvm::Twine(count) + " does not divide the extent " +
                             llvm::Twine(extent));
    std::vector<Tensor> parts;
    for (std::size_t place = 0; place < gathered->group.size(); ++place)
      parts.push_back(partOf(gathered->tensor(place, k), split, self, extent / count));
    std::vector<const Tensor*> inputs;
    for (const Tensor& part : parts)
      inputs.push_back(&part);
    results.emplace_back(concatenate(inputs, static_cast<std::int64_t>(op.getConcatDimension())));
  }
  return results;
}

/// The position in the group of the root for operand `k`: the first process, or the one that the
/// last operand gives.
llvm::Expected<std::size_t> rootOf(mlir::Operation* op, bool isDynamic, const Operands& operands,
                                   std::size_t k, std::size_t groupSize) {
  if (!isDynamic)
    return 0;
  const Tensor& roots = operands.back().tensor();
  if (roots.shape[0] != static_cast<std::int64_t>(operands.size()) - 1)
    return failure(op, "there must be a root for each operand");
  const auto root = static_cast<std::int32_t>(roots.code(static_cast<std::int64_t>(k)));
  if (root < 0 || static_cast<std::size_t>(root) >= groupSize)
    return failure(op, "the root " + llvm::Twine(root) + " is not in [0, " +
                           llvm::Twine(groupSize) + "), the places of the group");
  return static_cast<std::size_t>(root);
}

llvm::Expected<Results> evaluateCollectiveBroadcast(stablehlo::CollectiveBroadcastOp op,
                                                    const Operands& operands,
                                                    Evaluation& evaluation) {
  const GroupKind kind = stablehlo::exchangingGroups(stablehlo::channelId(op.getChannelHandle()));
  auto gathered = gather(op, op.getReplicaGroups(), op.getChannelHandle(), kind, Coverage::Some,
                         operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  Results results;
  for (std::size_t k = 0; k < op.getNumResults(); ++k) {
    if (gathered->group.empty()) {
      results.emplace_back(zerosLike(operands[k].tensor()));
      continue;
    }
    auto root = rootOf(op, op.getHasDynamicRoot(), operands, k, gathered->group.size());
    if (!root)
      return root.takeError();
    results.push_back(gathered->values[*root][k]);
  }
  return results;
}

llvm::Expected<Value> evaluateCollectivePermute(stablehlo::CollectivePermuteOp op,
                                                const Operands& operands, Evaluation& evaluation) {
  const std::int64_t channel = stablehlo::channelId(op.getChannelHandle());
  llvm::Expected<Route> route =
      routeOf(op, op.getSourceTargetPairs(), stablehlo::exchangingGroups(channel), evaluation);
  if (!route)
    return route.takeError();
  const std::string name = "collective_permute " + std::to_string(channel);
  const std::int64_t self = evaluation.process();
  if (route->target)
    evaluation.grid().put(routeName(name, self, *route->target), Results{operands[0]});
  if (!route->source)
    return Value(zerosLike(operands[0].tensor()));
  auto values = evaluation.grid().take(op, self, routeName(name, *route->source, self));
  if (!values)
    return values.takeError();
  return values->front();
}

llvm::Expected<Results> evaluateCollectiveReduce(stablehlo::CollectiveReduceOp op,
                                                 const Operands& operands, Evaluation& evaluation) {
  const std::int64_t channel = stablehlo::channelId(op.getChannelHandle());
  const GroupKind kind =
      op.getUseGlobalDeviceIds() ? GroupKind::FlattenedIds : stablehlo::exchangingGroups(channel);
  auto gathered = gather(op, op.getReplicaGroups(), op.getChannelHandle(), kind, Coverage::Some,
                         operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  Results results;
  for (std::size_t k = 0; k < op.getNumResults(); ++k) {
    auto type = elementTypeOf(op, op.getResult(static_cast<unsigned>(k)).getType());
    if (!type)
      return type.takeError();
    const Tensor none = zerosLike(Tensor::zeros(*type, operands[k].tensor().shape));
    if (gathered->group.empty()) {
      results.emplace_back(none);
      continue;
    }
    auto root = rootOf(op, op.getHasDynamicRoot(), operands, k, gathered->group.size());
    if (!root)
      return root.takeError();
    if (*root != gathered->placeOf(evaluation.process())) {
      results.emplace_back(none);
      continue;
    }
    auto sum = reduce(op, op.getComputation(), *gathered, k, *type, evaluation);
    if (!sum)
      return sum.takeError();
    results.emplace_back(std::move(*sum));
  }
  return results;
}

llvm::Expected<Value> evaluateCrossReplicaSum(stablehlo::CrossReplicaSumOp op,
                                              const Operands& operands, Evaluation& evaluation) {
  auto gathered = gather(op, op.getReplicaGroups(), std::nullopt, GroupKind::CrossReplica,
                         Coverage::All, operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  const ElementType type = operands[0].tensor().type;
  const ElementType running = runningType(type);
  Tensor sum = converted(gathered->tensor(0, 0), running);
  for (std::size_t place = 1; place < gathered->group.size(); ++place) {
    auto next = map<Add>(sum, converted(gathered->tensor(place, 0), running));
    if (!next)
      return failure(op, next.error().message());
    sum = std::move(*next);
  }
  return Value(converted(std::move(sum), type));
}

llvm::Expected<Value> evaluateReduceScatter(stablehlo::ReduceScatterOp op, const Operands& operands,
                                            Evaluation& evaluation) {
  auto gathered = gatherAll(op, operands, evaluation);
  if (!gathered)
    return gathered.takeError();
  auto type = resultElementType(op);
  if (!type)
    return type.takeError();
  const auto axis = static_cast<std::int64_t>(op.getScatterDimension());
  const std::int64_t extent = operands[0].tensor().shape[static_cast<std::size_t>(axis)];
  const auto parts = static_cast<std::int64_t>(gathered->group.size());
  if (extent % parts != 0)
    return failure(op, "the processes of a group, " + llvm::Twine(parts) +
                           ", do not divide the extent " + llvm::Twine(extent));
  auto sum = reduce(op, op.getComputation(), *gathered, 0, *type, evaluation);
  if (!sum)
    return sum.takeError();
  return Value(partOf(*sum, axis, gathered->placeOf(evaluation.process()), extent / parts));
}

Value idValue(const ElementType& type, std::int64_t id) {
  Tensor tensor = Tensor::zeros(type, {});
  tensor.setCode(0, static_cast<std::uint64_t>(id));
  return Value(std::move(tensor));
}

llvm::Expected<Value> evaluatePartitionId(stablehlo::PartitionIdOp op, const Operands&,
                                          Evaluation& evaluation) {
  auto type = resultElementType(op);
  if (!type)
    return type.takeError();
  return idValue(*type, evaluation.process() % evaluation.grid().partitions());
}

llvm::Expected<Value> evaluateReplicaId(stablehlo::ReplicaIdOp op, const Operands&,
                                        Evaluation& evaluation) {
  auto type = resultElementType(op);
  if (!type)
    return type.takeError();
  return idValue(*type, evaluation.process() / evaluation.grid().partitions());
}

llvm::Expected<Value> evaluateAsyncStart(stablehlo::AsyncStartOp op, const Operands& operands,
                                         Evaluation& evaluation) {
  auto results = evaluation.region(op.getBody(), taken(operands));
  if (!results)
    return results.takeError();
  return Value::tuple(std::move(*results));
}

llvm::Expected<Value> evaluateAsyncDone(stablehlo::AsyncDoneOp, const Operands& operands,
                                        Evaluation&) {
  return operands[0].elements().front();
}

} // namespace

void registerCollectives(EvaluatorTable& table) {
  table.add<evaluateAllGather>();
  table.add<evaluateAllReduce>();
  table.add<evaluateAllToAll>();
  table.add<evaluateAsyncDone>();
  table.add<evaluateAsyncStart>();
  table.add<evaluateCollectiveBroadcast>();
  table.add<evaluateCollectivePermute>();
  table.add<evaluateCollectiveReduce>();
  table.addByNumbers<evaluateCrossReplicaSum>();
  table.add<evaluatePartitionId>();
  table.add<evaluateReduceScatter>();
  table.add<evaluateReplicaId>();
}

} // namespace octavo::interpreter
