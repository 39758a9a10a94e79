// Evaluates StableHLO's channels family. A channel is a queue: sending never waits.
#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Dialect/StableHLO/Groups.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/StableHLO/ProcessGroups.h"

namespace octavo::interpreter {

namespace {

std::string channelName(std::int64_t channel) { return "channel " + std::to_string(channel); }

llvm::Expected<Results> evaluateSend(stablehlo::SendOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  const std::int64_t channel = op.getChannelHandle().getHandle();
  Results values = taken(operands.drop_back());
  if (const auto pairs = op.getSourceTargetPairsAttr()) {
    llvm::Expected<Route> route =
        routeOf(op, pairs, stablehlo::exchangingGroups(channel), evaluation);
    if (!route)
      return route.takeError();
    if (route->target)
      evaluation.grid().put(routeName(channelName(channel), evaluation.process(), *route->target),
                            std::move(values));
  } else {
    evaluation.grid().put(channelName(channel), std::move(values));
  }
  return Results{Value()};
}

llvm::Expected<Results> evaluateRecv(stablehlo::RecvOp op, const Operands&,
                                     Evaluation& evaluation) {
  const std::int64_t channel = op.getChannelHandle().getHandle();
  std::string name = channelName(channel);
  if (const auto pairs = op.getSourceTargetPairsAttr()) {
    llvm::Expected<Route> route =
        routeOf(op, pairs, stablehlo::exchangingGroups(channel), evaluation);
    if (!route)
      return route.takeError();
    if (!route->source) {
      Results zeros;
      for (mlir::Value result : op.getResults().drop_back()) {
        llvm::Expected<TensorShape> shape = tensorShape(op, result.getType());
        if (!shape)
          return shape.takeError();
        zeros.emplace_back(Tensor::zeros(shape->type, shape->shape));
      }
      zeros.emplace_back();
      return zeros;
    }
    name = routeName(name, *route->source, evaluation.process());
  }
  llvm::Expected<Results> values = evaluation.grid().take(op, evaluation.process(), name);
  if (values)
    values->emplace_back();
  return values;
}

llvm::Expected<Results> evaluateInfeed(stablehlo::InfeedOp op, const Operands&,
                                       Evaluation& evaluation) {
  Grid& grid = evaluation.grid();
  std::optional<Results> values = grid.takeIfThere(infeedName(evaluation.process()));
  if (!values)
    values = grid.takeIfThere(infeedName());
  if (!values)
    return failure(op, "nothing is left for it to take; `octavo run --infeed FILE` gives it a "
                       "tensor for each time that it comes");
  if (values->size() + 1 != op.getNumResults())
    return failure(op, "takes " + llvm::Twine(op.getNumResults() - 1) +
                           " tensors at a time; it was given " + llvm::Twine(values->size()));
  values->emplace_back();
  return std::move(*values);
}

llvm::Expected<Results> evaluateOutfeed(stablehlo::OutfeedOp, const Operands&, Evaluation&) {
  return Results{Value()};
}

} // namespace

std::string infeedName() { return "infeed"; }
std::string infeedName(std::int64_t process) {
  return infeedName() + " " + std::to_string(process);
}

void registerChannels(EvaluatorTable& table) {
  table.add<evaluateInfeed>();
  table.add<evaluateOutfeed>();
  table.add<evaluateRecv>();
  table.add<evaluateSend>();
}

} // namespace octavo::interpreter
