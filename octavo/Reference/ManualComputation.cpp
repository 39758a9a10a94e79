// Sdy: shardings leave values as they are; a manual computation is a grid of its own.
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Reference/Evaluation.h"
#include "octavo/Reference/Grid.h"
#include "octavo/Reference/Movement.h"
#include "octavo/Reference/Scatter.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::reference {

namespace {

/// The devices of a mesh as the processes of a grid: where each stands, and what it holds.
class Devices {
public:
  Devices(sdy::ManualComputationOp op, sdy::MeshAttr mesh) : op(op), mesh(mesh) {}

  std::int64_t count() const { return mesh ? mesh.devices() : 1; }

  /// The process of the device at a place of the mesh, counted row-major.
  std::int64_t processAt(std::int64_t place) const {
    const bool isNumbered = mesh && !mesh.getAxes().empty() && !mesh.getDeviceIds().empty();
    return isNumbered ? mesh.getDeviceIds()[place] : place;
  }

  /// Into how many parts a dimension is cut.
  std::int64_t partsOf(sdy::DimensionShardingAttr dimension) { return op.parts(mesh, dimension); }

  /// Where the part of a device begins in a tensor, and its shape.
  struct Part {
    std::vector<std::int64_t> start, shape;
  };
  Part partAt(std::int64_t place, sdy::TensorShardingAttr sharding,
              llvm::ArrayRef<std::int64_t> whole) {
    Part part;
    for (auto [extent, dimension] : llvm::zip_equal(whole, sharding.getDimShardings())) {
      const sdy::DimensionShardingAttr axes = dimension;
      std::int64_t number = 0, parts = 1;
      for (sdy::AxisRefAttr axis : axes.getAxes())
        if (op.isManual(axis)) {
          const auto [at, size] = coordinate(place, axis);
          number = number * size + at;
          parts *= size;
        }
      part.start.push_back(extent / parts * number);
      part.shape.push_back(extent / parts);
    }
    return part;
  }

private:
  /// The place of a device along an axis, or the part of one, and the size of that.
  std::pair<std::int64_t, std::int64_t> coordinate(std::int64_t place, sdy::AxisRefAttr axis) {
    std::int64_t below = 1;
    for (sdy::MeshAxisAttr own : llvm::reverse(mesh.getAxes())) {
      if (own.getName() != axis.getName()) {
        below *= own.getSize();
        continue;
      }
      const std::int64_t at = place / below % own.getSize();
      const sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
      if (!part)
        return {at, own.getSize()};
      const std::int64_t rest = own.getSize() / (part.getPreSize() * part.getSize());
      return {at / rest % part.getSize(), part.getSize()};
    }
    return {0, 1};
  }

  sdy::ManualComputationOp op;
  sdy::MeshAttr mesh;
};

/// The operands of one device: its parts of them.
llvm::Expected<std::vector<Value>> partsAt(sdy::ManualComputationOp op, Devices& devices,
                                           std::int64_t place, const Operands& operands) {
  std::vector<Value> parts;
  for (auto [i, operand, sharding] :
       llvm::enumerate(operands, op.getInShardings().getShardings())) {
    const Tensor& whole = operand.tensor();
    const Devices::Part part = devices.partAt(place, sharding, whole.shape);
    std::vector<std::int64_t> limit;
    for (auto [axis, start] : llvm::enumerate(part.start)) {
      const sdy::TensorShardingAttr own = sharding;
      if (whole.shape[axis] % devices.partsOf(own.getDimShardings()[axis]) != 0)
        return failure(op, "cuts operand " + llvm::Twine(i) + ", " + describe(operand) +
                               ", into parts that do not divide its extent on axis " +
                               llvm::Twine(axis));
      limit.push_back(start + part.shape[axis]);
    }
    parts.emplace_back(slice(whole, part.start, limit, std::vector<std::int64_t>(limit.size(), 1)));
  }
  return parts;
}

/// The results of all devices put together. Of devices that hold the same part, the first counts.
llvm::Expected<Results> joined(sdy::ManualComputationOp op, Devices& devices,
                               std::vector<Value> given) {
  const std::size_t count = op.getNumResults();
  Results results;
  for (std::size_t i = 0; i < count; ++i) {
    const sdy::TensorShardingAttr sharding = op.getOutShardings().getShardings()[i];
    const auto at = [&](std::int64_t place) -> const Tensor& {
      return given[static_cast<std::size_t>(devices.processAt(place)) * count + i].tensor();
    };
    std::vector<std::int64_t> shape = at(0).shape;
    for (auto [extent, dimension] : llvm::zip_equal(shape, sharding.getDimShardings()))
      if (__builtin_mul_overflow(extent, devices.partsOf(dimension), &extent))
        return failure(op, "result " + llvm::Twine(i) + " has more than 2^63 elements");
    if (llvm::Error error = checkSize(op, shape))
      return std::move(error);
    Tensor whole = Tensor::zeros(at(0).type, shape);
    for (std::int64_t place = devices.count(); place-- > 0;) {
      const Devices::Part part = devices.partAt(place, sharding, shape);
      if (at(place).shape != part.shape)
        return failure(op, "result " + llvm::Twine(i) +
                               " has other extents on one device than on "
                               "another");
      updateSlice(whole, at(place), part.start);
    }
    results.emplace_back(std::move(whole));
  }
  return results;
}

llvm::Expected<Results> evaluateManualComputation(sdy::ManualComputationOp op,
                                                  const Operands& operands,
                                                  Evaluation& evaluation) {
  if (evaluation.grid().size() > 1)
    return failure(op, "stands in a program that several processes run already: a manual "
                       "computation within another is not evaluated");
  for (sdy::TensorShardingAttr sharding : op.getOutShardings().getShardings())
    if (!sharding.getUnreducedAxes().empty())
      return failure(op, "leaves the sum of a result over axes of the mesh to others (unreduced), "
                         "which is not evaluated");
  Devices devices(op, op.mesh());
  if (devices.count() > kMaxProcesses)
    return failure(op, "needs " + llvm::Twine(devices.count()) + " devices; up to " +
                           llvm::Twine(kMaxProcesses) + " are run");
  std::vector<ProcessWork> works(static_cast<std::size_t>(devices.count()));
  for (std::int64_t place = 0; place < devices.count(); ++place) {
    llvm::Expected<std::vector<Value>> parts = partsAt(op, devices, place, operands);
    if (!parts)
      return parts.takeError();
    works[static_cast<std::size_t>(devices.processAt(place))] = {evaluation.function(),
                                                                 std::move(*parts), &op.getBody()};
  }
  Grid grid(1, devices.count());
  llvm::Expected<std::vector<Value>> given =
      evaluateOnGrid(grid, evaluation.program(), std::move(works), evaluation.host());
  if (!given)
    return given.takeError();
  return joined(op, devices, std::move(*given));
}

llvm::Expected<Results> evaluateShardingGroup(sdy::ShardingGroupOp, const Operands&, Evaluation&) {
  return Results{};
}

} // namespace

void registerSdy(EvaluatorTable& table) {
  table.add<evaluateManualComputation>();
  table.add<evaluateShardingGroup>();
  for (llvm::StringRef name :
       {sdy::PropagationBarrierOp::getOperationName(), sdy::ReshardOp::getOperationName(),
        sdy::ReturnOp::getOperationName(), sdy::ShardingConstraintOp::getOperationName()})
    table.add(name, handOn);
}

} // namespace octavo::reference
