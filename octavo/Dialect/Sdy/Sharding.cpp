#include "octavo/Dialect/Sdy/Sharding.h"

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Sdy/Axes.h"
#include "octavo/Dialect/Sdy/ShardingRule.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::sdy {

using llvm::LogicalResult;

namespace {

constexpr llvm::StringLiteral kSharding = "sdy.sharding";

/// Whether a mesh is a single device: no axes, but device ids.
bool isOneDevice(MeshAttr mesh) { return mesh.getAxes().empty() && !mesh.getDeviceIds().empty(); }

bool isBare(TensorShardingAttr sharding) {
  return sharding.getDimShardings().empty() && sharding.getReplicatedAxes().empty() &&
         sharding.getUnreducedAxes().empty();
}

/// (S3)
LogicalResult verifyRank(mlir::Operation* op, const std::string& what, TensorShardingAttr sharding,
                         MeshAttr mesh, mlir::Type type) {
  const std::size_t dimensions = sharding.getDimShardings().size();
  const auto extents = type ? extentsOf(type) : std::nullopt;
  if (!extents || isOneDevice(mesh)) {
    if (!isBare(sharding))
      return op->emitOpError() << "(S3) " << what << " must have no dimensions and axes, since "
                               << (isOneDevice(mesh) ? "its mesh is one device"
                                   : type            ? "the value is not a tensor"
                                                     : "there is no value");
    if (llvm::isa_and_present<mlir::UnrankedTensorType>(type))
      return op->emitOpError() << "(S3) " << what << " is for an unranked tensor, " << type;
    return mlir::success();
  }
  if (dimensions != extents->size())
    return op->emitOpError() << "(S3) " << what << " has rank " << dimensions << ", " << type
                             << " has " << extents->size();
  return mlir::success();
}

/// (S8)
LogicalResult verifyNotManual(mlir::Operation* op, const std::string& what,
                              TensorShardingAttr sharding) {
  llvm::SmallVector<AxisRefAttr> axes(sharding.getReplicatedAxes());
  llvm::append_range(axes, sharding.getUnreducedAxes());
  for (DimensionShardingAttr dimension : sharding.getDimShardings())
    llvm::append_range(axes, dimension.getAxes());
  for (AxisRefAttr axis : axes)
    if (isManualAround(op, axis.getName()))
      return op->emitOpError() << "(S8) " << what << " names the axis \"" << axis.getName()
                               << "\", which is manual in a computation around it";
  return mlir::success();
}

} // namespace

std::optional<llvm::ArrayRef<std::int64_t>> extentsOf(mlir::Type type) {
  if (const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
    return tensor.getShape();
  if (const auto scaled = llvm::dyn_cast<ir::ScaledType>(type))
    return scaled.getShape();
  return std::nullopt;
}

MeshAttr meshOf(TensorShardingAttr sharding, mlir::Operation* from) {
  if (auto mesh = llvm::dyn_cast<MeshAttr>(sharding.getMeshOrRef()))
    return mesh;
  auto named = mlir::SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      from, llvm::cast<mlir::FlatSymbolRefAttr>(sharding.getMeshOrRef()));
  return named ? named.getMesh() : MeshAttr();
}

bool isManualAround(mlir::Operation* op, llvm::StringRef axis) {
  for (auto manual = op->getParentOfType<ManualComputationOp>(); manual;
       manual = manual->getParentOfType<ManualComputationOp>())
    if (manual.isManual(axis))
      return true;
  return false;
}

LogicalResult verifySharding(mlir::Operation* op, const std::string& what,
                             TensorShardingAttr sharding, mlir::Type type) {
  const MeshAttr mesh = meshOf(sharding, op);
  if (!mesh)
    return op->emitOpError() << "(S2) " << what << " is on the mesh " << sharding.getMeshOrRef()
                             << ", which the program does not have";
  if (failed(verifyRank(op, what, sharding, mesh, type)))
    return mlir::failure();
  AxisChecker checker(op, what, mesh);
  for (auto [i, dimension] : llvm::enumerate(sharding.getDimShardings())) {
    const DimensionShardingAttr own = dimension;
    if (failed(checker.check(own.getAxes())))
      return mlir::failure();
    if (own.getPriority() && own.getAxes().empty() && own.getIsClosed())
      return op->emitOpError() << "(S7) " << what << " has a priority for dimension " << i
                               << ", which is closed and has no axes";
  }
  if (failed(checker.checkOrdered(sharding.getReplicatedAxes(), "replicated axes")) ||
      failed(checker.checkOrdered(sharding.getUnreducedAxes(), "unreduced axes")))
    return mlir::failure();
  return verifyNotManual(op, what, sharding);
}

LogicalResult verifyShardings(mlir::Operation* op, llvm::StringRef side,
                              llvm::ArrayRef<TensorShardingAttr> shardings, mlir::TypeRange types) {
  if (types.empty() && shardings.size() == 1)
    return verifySharding(op, "the sharding", shardings.front(), mlir::Type());
  if (shardings.size() != types.size())
    return op->emitOpError() << "(S1) needs a sharding for each " << side << ", found "
                             << shardings.size() << " for " << types.size();
  for (auto [i, sharding, type] : llvm::enumerate(shardings, types))
    if (failed(verifySharding(op, ("the sharding of " + side + " " + llvm::Twine(i)).str(),
                              sharding, type)))
      return mlir::failure();
  return mlir::success();
}

namespace {

/// The sharding at `number`; null if the list is absent or shorter.
TensorShardingAttr at(std::optional<TensorShardingPerValueAttr> all, unsigned number) {
  return all && number < all->getShardings().size() ? all->getShardings()[number]
                                                    : TensorShardingAttr();
}

TensorShardingAttr discardableSharding(mlir::Operation* op, unsigned result) {
  const auto all = op->getAttrOfType<TensorShardingPerValueAttr>(kSharding);
  return all ? at(all, result) : TensorShardingAttr();
}

TensorShardingAttr withoutManualAxes(ManualComputationOp op, TensorShardingAttr sharding) {
  const auto free = [&](llvm::ArrayRef<AxisRefAttr> axes) {
    return llvm::filter_to_vector(axes,
                                  [&](AxisRefAttr axis) { return !op.isManual(axis.getName()); });
  };
  const auto dimensions =
      llvm::map_to_vector(sharding.getDimShardings(), [&](DimensionShardingAttr dimension) {
        return DimensionShardingAttr::get(op.getContext(), free(dimension.getAxes()),
                                          dimension.getIsClosed(), dimension.getPriority());
      });
  return TensorShardingAttr::get(op.getContext(), sharding.getMeshOrRef(), dimensions,
                                 free(sharding.getReplicatedAxes()),
                                 free(sharding.getUnreducedAxes()));
}

/// The sharding of a loop's argument is that of the loop's result: from a data-flow edge on it,
/// else from the attribute on the loop.
TensorShardingAttr shardingOfLoop(mlir::Operation* op, unsigned number) {
  if (number >= op->getNumResults())
    return {};
  for (mlir::Operation* user : op->getResult(number).getUsers())
    if (auto edge = llvm::dyn_cast<DataFlowEdgeOp>(user); edge && edge.getSharding())
      return *edge.getSharding();
  return discardableSharding(op, number);
}

TensorShardingAttr shardingOfArgument(mlir::BlockArgument argument) {
  mlir::Operation* owner = argument.getOwner()->getParentOp();
  const unsigned number = argument.getArgNumber();
  return llvm::TypeSwitch<mlir::Operation*, TensorShardingAttr>(owner)
      .Case([&](mlir::FunctionOpInterface function) {
        return function.getArgAttrOfType<TensorShardingAttr>(number, kSharding);
      })
      .Case([&](ManualComputationOp manual) {
        const TensorShardingAttr whole = at(manual.getInShardings(), number);
        return whole ? withoutManualAxes(manual, whole) : whole;
      })
      .Case([&](NamedComputationOp named) { return at(named.getInShardings(), number); })
      .Default([&](mlir::Operation* op) { return shardingOfLoop(op, number); });
}

} // namespace

TensorShardingAttr shardingOf(mlir::Value value) {
  if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
    return shardingOfArgument(argument);
  const auto result = llvm::cast<mlir::OpResult>(value);
  const unsigned number = result.getResultNumber();
  return llvm::TypeSwitch<mlir::Operation*, TensorShardingAttr>(result.getOwner())
      .Case<ShardingConstraintOp, ReshardOp>([](auto op) { return op.getSharding(); })
      .Case<AllGatherOp, AllSliceOp, AllToAllOp, AllReduceOp, CollectivePermuteOp, ReduceScatterOp,
            ReplicatedToUnreducedOp, ShardedToUnreducedOp>(
          [](auto op) { return op.getOutSharding(); })
      .Case([](DataFlowEdgeOp edge) { return edge.getSharding().value_or(TensorShardingAttr()); })
      .Case<ManualComputationOp, NamedComputationOp>(
          [&](auto op) { return at(op.getOutShardings(), number); })
      .Default([&](mlir::Operation* op) { return discardableSharding(op, number); });
}

namespace {

LogicalResult verifyConstraint(mlir::Operation* op, TensorShardingAttr sharding) {
  return verifySharding(op, "the sharding", sharding, op->getResult(0).getType());
}

} // namespace

LogicalResult ShardingConstraintOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return verifyConstraint(*this, getSharding());
}

LogicalResult ReshardOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return verifyConstraint(*this, getSharding());
}

LogicalResult SdyDialect::verifyOperationAttribute(mlir::Operation* op,
                                                   mlir::NamedAttribute attribute) {
  if (attribute.getName() == kSharding) {
    const auto all = llvm::dyn_cast<TensorShardingPerValueAttr>(attribute.getValue());
    if (!all)
      return op->emitOpError() << "'" << kSharding << "' must be a #sdy.sharding_per_value; found "
                               << attribute.getValue();
    return verifyShardings(op, "result", all.getShardings(), op->getResultTypes());
  }
  if (attribute.getName() == "sdy.sharding_rule") {
    const auto rule = llvm::dyn_cast<OpShardingRuleAttr>(attribute.getValue());
    if (!rule)
      return op->emitOpError() << "'sdy.sharding_rule' must be a #sdy.op_sharding_rule; found "
                               << attribute.getValue();
    return verifyShardingRule(op, rule);
  }
  return mlir::success();
}

namespace {

LogicalResult verifyOfFunction(mlir::Operation* op, llvm::StringRef side, unsigned number,
                               mlir::NamedAttribute attribute, mlir::TypeRange types) {
  if (attribute.getName() != kSharding)
    return mlir::success();
  const auto sharding = llvm::dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding)
    return op->emitOpError() << "'" << kSharding << "' of " << side << " " << number
                             << " must be a #sdy.sharding; found " << attribute.getValue();
  return verifySharding(op, ("the sharding of " + side + " " + llvm::Twine(number)).str(), sharding,
                        types[number]);
}

} // namespace

LogicalResult SdyDialect::verifyRegionArgAttribute(mlir::Operation* op, unsigned, unsigned number,
                                                   mlir::NamedAttribute attribute) {
  auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op);
  return function ? verifyOfFunction(op, "argument", number, attribute, function.getArgumentTypes())
                  : mlir::success();
}

LogicalResult SdyDialect::verifyRegionResultAttribute(mlir::Operation* op, unsigned,
                                                      unsigned number,
                                                      mlir::NamedAttribute attribute) {
  auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op);
  return function ? verifyOfFunction(op, "result", number, attribute, function.getResultTypes())
                  : mlir::success();
}

} // namespace octavo::sdy
