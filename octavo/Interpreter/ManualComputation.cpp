// Evaluates sdy. Sharding annotations and collectives of partitioners return their operands. A
// manual computation runs on its own grid, or on the grid of the manual computation around it.
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Grid.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/Scatter.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

/// The devices of a mesh as processes of a grid: their places in the mesh and their parts of
/// tensors.
class Devices {
public:
  Devices(sdy::ManualComputationOp op, sdy::MeshAttr mesh) : op(op), mesh(mesh) {}

  std::int64_t count() const { return mesh ? mesh.devices() : 1; }

  /// The process of the device at row-major position `place` of the mesh.
  std::int64_t processAt(std::int64_t place) const {
    const bool isNumbered = mesh && !mesh.getAxes().empty() && !mesh.getDeviceIds().empty();
    return isNumbered ? mesh.getDeviceIds()[place] : place;
  }

  /// The position in the mesh of a process's device.
  std::int64_t placeOf(std::int64_t process) const {
    std::int64_t place = 0;
    while (processAt(place) != process)
      ++place;
    return place;
  }

  /// The positions that differ from `place` only along manual axes, in order, with `place` itself.
  std::vector<std::int64_t> placesAlongManualAxes(std::int64_t place) {
    if (!mesh)
      return {place};
    std::vector<std::int64_t> places;
    for (std::int64_t other = 0; other < count(); ++other)
      if (llvm::all_of(mesh.getAxes(), [&](sdy::MeshAxisAttr axis) {
            return op.isManual(axis.getName()) ||
                   coordinate(place, axis.getName()) == coordinate(other, axis.getName());
          }))
        places.push_back(other);
    return places;
  }

  /// The number of parts into which a dimension is cut.
  std::int64_t partsOf(sdy::DimensionShardingAttr dimension) { return op.parts(mesh, dimension); }

  /// The start and shape of a device's part of a tensor.
  struct Part {
    std::vector<std::int64_t> start, shape;
  };
  Part partAt(std::int64_t place, sdy::TensorShardingAttr sharding,
              llvm::ArrayRef<std::int64_t> whole) {
    Part part{std::vector<std::int64_t>(whole.size(), 0), whole.vec()};
    for (auto [start, extent, dimension] :
         llvm::zip(part.start, part.shape, sharding.getDimShardings())) {
      const sdy::DimensionShardingAttr axes = dimension;
      std::int64_t number = 0, parts = 1;
      for (sdy::AxisRefAttr axis : axes.getAxes())
        if (op.isManual(axis.getName())) {
          const auto [at, size] = coordinate(place, axis);
          number = number * size + at;
          parts *= size;
        }
      extent /= parts;
      start = extent * number;
    }
    return part;
  }

private:
  /// The coordinate of a device along an axis.
  std::int64_t coordinate(std::int64_t place, llvm::StringRef axis) {
    for (sdy::MeshAxisAttr own : llvm::reverse(mesh.getAxes())) {
      if (own.getName() == axis)
        return place % own.getSize();
      place /= own.getSize();
    }
    return 0;
  }

  /// The coordinate of a device along an axis or a sub-axis, and the size of that.
  std::pair<std::int64_t, std::int64_t> coordinate(std::int64_t place, sdy::AxisRefAttr axis) {
    const std::int64_t at = coordinate(place, axis.getName()), size = mesh.sizeOf(axis.getName());
    const sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
    if (!part)
      return {at, size};
    return {at / (size / (part.getPreSize() * part.getSize())) % part.getSize(), part.getSize()};
  }

  sdy::ManualComputationOp op;
  sdy::MeshAttr mesh;
};

/// The operands of one device: its part of each operand.
llvm::Expected<std::vector<Value>> partsAt(sdy::ManualComputationOp op, Devices& devices,
                                           std::int64_t place, const Operands& operands) {
  std::vector<Value> parts;
  for (auto [i, operand, sharding] :
       llvm::enumerate(operands, op.getInShardings().getShardings())) {
    if (!operand.isTensor()) {
      parts.push_back(operand);
      continue;
    }
    const Tensor& whole = operand.tensor();
    const sdy::TensorShardingAttr own = sharding;
    const Devices::Part part = devices.partAt(place, own, whole.shape);
    std::vector<std::int64_t> limit;
    for (auto [axis, dimension] : llvm::enumerate(own.getDimShardings()))
      if (whole.shape[axis] % devices.partsOf(dimension) != 0)
        return failure(op, "cuts operand " + llvm::Twine(i) + ", " + describe(operand) +
                               ", into parts that do not divide its extent on axis " +
                               llvm::Twine(axis));
    for (auto [start, extent] : llvm::zip_equal(part.start, part.shape))
      limit.push_back(start + extent);
    parts.emplace_back(slice(whole, part.start, limit, std::vector<std::int64_t>(limit.size(), 1)));
  }
  return parts;
}

/// Joins the devices' results, which `given` has in the order of `places`. If several devices have
/// the same part, the first one's is used.
llvm::Expected<Results> joined(sdy::ManualComputationOp op, Devices& devices,
                               llvm::ArrayRef<std::int64_t> places,
                               const std::vector<Results>& given) {
  Results results;
  for (std::size_t i = 0; i < op.getNumResults(); ++i) {
    const Value& first = given.front()[i];
    if (!first.isTensor()) {
      results.push_back(first);
      continue;
    }
    const sdy::TensorShardingAttr sharding = op.getOutShardings().getShardings()[i];
    std::vector<std::int64_t> shape = first.tensor().shape;
    for (auto [extent, dimension] : llvm::zip(shape, sharding.getDimShardings()))
      if (__builtin_mul_overflow(extent, devices.partsOf(dimension), &extent))
        return failure(op, "result " + llvm::Twine(i) + " has more than 2^63 elements");
    if (llvm::Error error = checkSize(op, shape))
      return std::move(error);
    Tensor whole = Tensor::zeros(first.tensor().type, shape);
    for (std::size_t n = places.size(); n-- > 0;) {
      const Tensor& own = given[n][i].tensor();
      const Devices::Part part = devices.partAt(places[n], sharding, shape);
      if (own.shape != part.shape)
        return failure(op, "result " + llvm::Twine(i) +
                               " has other extents on one device than on "
                               "another");
      updateSlice(whole, own, part.start);
    }
    results.emplace_back(std::move(whole));
  }
  return results;
}

/// Runs the body on a grid of the mesh's devices.
llvm::Expected<Results> evaluateOnDevices(sdy::ManualComputationOp op, const Operands& operands,
                                          Evaluation& evaluation) {
  Devices devices(op, op.mesh());
  if (devices.count() > kMaxProcesses)
    return failure(op, "needs " + llvm::Twine(devices.count()) + " devices; up to " +
                           llvm::Twine(kMaxProcesses) + " are run");
  std::vector<ProcessWork> works(static_cast<std::size_t>(devices.count()));
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < devices.count(); ++place) {
    llvm::Expected<std::vector<Value>> parts = partsAt(op, devices, place, operands);
    if (!parts)
      return parts.takeError();
    works[static_cast<std::size_t>(devices.processAt(place))] = {evaluation.function(),
                                                                 std::move(*parts), op};
    places.push_back(place);
  }
  Grid grid(1, devices.count());
  llvm::Expected<std::vector<Value>> given =
      evaluateOnGrid(grid, evaluation.program(), std::move(works), evaluation.host());
  if (!given)
    return given.takeError();
  std::vector<Results> results;
  for (const std::int64_t place : places) {
    const auto first = given->begin() + devices.processAt(place) * op.getNumResults();
    results.emplace_back(std::make_move_iterator(first),
                         std::make_move_iterator(first + op.getNumResults()));
  }
  return joined(op, devices, places, results);
}

/// Why a nested computation cannot run on the devices of the computations around it; empty if it
/// can.
std::string conflict(sdy::ManualComputationOp op, llvm::ArrayRef<mlir::Operation*> around) {
  auto outermost = llvm::cast<sdy::ManualComputationOp>(around.front());
  if (const sdy::MeshAttr mesh = op.mesh(); mesh && mesh != outermost.mesh()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "has the mesh " << mesh << " within a computation ";
    if (const sdy::MeshAttr around = outermost.mesh())
      out << "on another, " << around;
    else
      out << "without one";
    return text;
  }
  for (mlir::StringAttr axis : op.getManualAxes().getValue())
    for (mlir::Operation* outer : around)
      if (llvm::cast<sdy::ManualComputationOp>(outer).isManual(axis))
        return "has the manual axis \"" + axis.str() + "\", which is manual around it already";
  return "";
}

/// Runs the body in a process of the outer computation's grid. Before it, devices that differ only
/// along this computation's manual axes have the same values. After it, these devices exchange
/// their results and join them.
llvm::Expected<Results> evaluateOnOneDevice(sdy::ManualComputationOp op, const Operands& operands,
                                            Evaluation& evaluation) {
  const llvm::ArrayRef<mlir::Operation*> around = evaluation.manualComputations();
  if (const std::string wrong = conflict(op, around); !wrong.empty())
    return failure(op, wrong);
  auto outermost = llvm::cast<sdy::ManualComputationOp>(around.front());
  Devices devices(op, outermost.mesh());
  const std::int64_t place = devices.placeOf(evaluation.process());
  llvm::Expected<std::vector<Value>> parts = partsAt(op, devices, place, operands);
  if (!parts)
    return parts.takeError();
  llvm::Expected<Results> own = evaluation.manualBody(op, evaluation.function(), std::move(*parts));
  if (!own)
    return own.takeError();
  const std::vector<std::int64_t> places = devices.placesAlongManualAxes(place);
  std::vector<std::int64_t> group;
  for (const std::int64_t other : places)
    group.push_back(devices.processAt(other));
  const std::string name = (op->getName().getStringRef() + " " +
                            llvm::Twine(reinterpret_cast<std::uintptr_t>(op.getOperation())))
                               .str();
  llvm::Expected<std::vector<Results>> all =
      evaluation.grid().meet(op, evaluation.process(), name, group, std::move(*own));
  if (!all)
    return all.takeError();
  return joined(op, devices, places, *all);
}

llvm::Expected<Results> evaluateManualComputation(sdy::ManualComputationOp op,
                                                  const Operands& operands,
                                                  Evaluation& evaluation) {
  for (sdy::TensorShardingAttr sharding : op.getOutShardings().getShardings())
    if (!sharding.getUnreducedAxes().empty())
      return failure(op, "leaves the sum of a result over axes of the mesh to others (unreduced), "
                         "which is not evaluated");
  if (!evaluation.manualComputations().empty())
    return evaluateOnOneDevice(op, operands, evaluation);
  if (evaluation.grid().size() > 1)
    return failure(op, "stands in a program that several processes run, each on arrays of its own");
  return evaluateOnDevices(op, operands, evaluation);
}

llvm::Expected<Results> evaluateNamedComputation(sdy::NamedComputationOp op,
                                                 const Operands& operands, Evaluation& evaluation) {
  return evaluation.region(op.getBody(), taken(operands));
}

llvm::Expected<Value> evaluateSdyConstant(sdy::ConstantOp op, const Operands&, Evaluation&) {
  llvm::Expected<Tensor> tensor = constantTensor(op, op.getValue());
  if (!tensor)
    return tensor.takeError();
  return Value(std::move(*tensor));
}

llvm::Expected<Results> evaluateShardingGroup(sdy::ShardingGroupOp, const Operands&, Evaluation&) {
  return Results{};
}

} // namespace

void registerSdy(EvaluatorTable& table) {
  table.add<evaluateSdyConstant>();
  table.add<evaluateManualComputation>();
  table.add<evaluateNamedComputation>();
  table.add<evaluateShardingGroup>();
  for (llvm::StringRef name :
       {sdy::AllGatherOp::getOperationName(), sdy::AllReduceOp::getOperationName(),
        sdy::AllSliceOp::getOperationName(), sdy::AllToAllOp::getOperationName(),
        sdy::CollectivePermuteOp::getOperationName(), sdy::DataFlowEdgeOp::getOperationName(),
        sdy::FuncDataFlowEdgeOp::getOperationName(), sdy::PropagationBarrierOp::getOperationName(),
        sdy::ReduceScatterOp::getOperationName(), sdy::ReplicatedToUnreducedOp::getOperationName(),
        sdy::ReshardOp::getOperationName(), sdy::ReturnOp::getOperationName(),
        sdy::ShardedToUnreducedOp::getOperationName(),
        sdy::ShardingConstraintOp::getOperationName()})
    table.add(name, handOn);
}

} // namespace octavo::interpreter
