#include "octavo/Interpreter/StableHLO/ProcessGroups.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace octavo::interpreter {

namespace {

using stablehlo::GroupKind;

/// The number of ids of a kind in a grid.
std::int64_t idCount(const Grid& grid, GroupKind kind) {
  switch (kind) {
  case GroupKind::CrossPartition:
    return grid.partitions();
  case GroupKind::FlattenedIds:
    return grid.size();
  case GroupKind::CrossReplica:
  case GroupKind::CrossReplicaAndPartition:
    return grid.replicas();
  }
  llvm_unreachable("a kind of groups without ids");
}

/// The id of a process: of replica, partition or process, as `kind` says.
std::int64_t idOf(const Grid& grid, GroupKind kind, std::int64_t process) {
  switch (kind) {
  case GroupKind::CrossPartition:
    return process % grid.partitions();
  case GroupKind::FlattenedIds:
    return process;
  case GroupKind::CrossReplica:
  case GroupKind::CrossReplicaAndPartition:
    return process / grid.partitions();
  }
  llvm_unreachable("a kind of groups without ids");
}

/// The process with the id `id` that has the same coordinate as `process` on the grid's other axis.
std::int64_t processOf(const Grid& grid, GroupKind kind, std::int64_t id, std::int64_t process) {
  switch (kind) {
  case GroupKind::CrossPartition:
    return process / grid.partitions() * grid.partitions() + id;
  case GroupKind::FlattenedIds:
    return id;
  case GroupKind::CrossReplica:
  case GroupKind::CrossReplicaAndPartition:
    return id * grid.partitions() + process % grid.partitions();
  }
  llvm_unreachable("a kind of groups without ids");
}

llvm::StringRef idName(GroupKind kind) {
  return kind == GroupKind::CrossPartition ? "partitions"
         : kind == GroupKind::FlattenedIds ? "processes"
                                           : "replicas";
}

llvm::Error outside(mlir::Operation* op, llvm::StringRef attribute, GroupKind kind,
                    std::int64_t count) {
  return failure(op, attribute + " does not fit the grid of " + llvm::Twine(count) + " " +
                         idName(kind) +
                         ", which is that of the program's mhlo.num_replicas and "
                         "mhlo.num_partitions");
}

} // namespace

llvm::Expected<std::vector<std::int64_t>> processGroup(mlir::Operation* op,
                                                       mlir::Attribute replicaGroups,
                                                       GroupKind kind, Coverage coverage,
                                                       Evaluation& evaluation) {
  const Grid& grid = evaluation.grid();
  auto groups = stablehlo::groupsOf(op, replicaGroups);
  if (failed(groups))
    return failure(op, "replica_groups is not one");
  const std::int64_t count = idCount(grid, kind);
  if (groups->empty() && coverage == Coverage::All) {
    // In XLA no groups means one group of all.
    std::iota(groups->emplace_back(count).begin(), groups->back().end(), 0);
  }
  std::int64_t ids = 0;
  for (const std::vector<std::int64_t>& group : *groups) {
    ids += static_cast<std::int64_t>(group.size());
    if (llvm::any_of(group, [&](std::int64_t id) { return id >= count; }))
      return outside(op, "replica_groups", kind, count);
  }
  if (coverage == Coverage::All && ids != count)
    return outside(op, "replica_groups", kind, count);
  const std::int64_t self = evaluation.process();
  const std::int64_t own = idOf(grid, kind, self);
  std::vector<std::int64_t> processes;
  for (const std::vector<std::int64_t>& group : *groups) {
    if (!llvm::is_contained(group, own))
      continue;
    if (kind == GroupKind::CrossReplicaAndPartition) {
      for (std::int64_t partition = 0; partition < grid.partitions(); ++partition)
        for (std::int64_t replica : group)
          processes.push_back(replica * grid.partitions() + partition);
    } else {
      for (std::int64_t id : group)
        processes.push_back(processOf(grid, kind, id, self));
    }
  }
  return processes;
}

llvm::Expected<Route> routeOf(mlir::Operation* op, mlir::DenseIntElementsAttr pairs, GroupKind kind,
                              Evaluation& evaluation) {
  const Grid& grid = evaluation.grid();
  const std::int64_t count = idCount(grid, kind);
  const std::int64_t self = evaluation.process();
  const std::int64_t own = idOf(grid, kind, self);
  const auto values = pairs.getValues<std::int64_t>();
  Route route;
  for (std::int64_t i = 0; i < pairs.getNumElements(); i += 2) {
    const std::int64_t source = values[static_cast<std::size_t>(i)];
    const std::int64_t target = values[static_cast<std::size_t>(i + 1)];
    if (source >= count || target >= count)
      return outside(op, "source_target_pairs", kind, count);
    if (source == own)
      route.target = processOf(grid, kind, target, self);
    if (target == own)
      route.source = processOf(grid, kind, source, self);
  }
  return route;
}

} // namespace octavo::interpreter
