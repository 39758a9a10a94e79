// Finds the processes of a grid for the ids in replica_groups and source_target_pairs.
#pragma once

#include "octavo/Dialect/StableHLO/Groups.h"
#include "octavo/Interpreter/Evaluation.h"

namespace octavo::interpreter {

/// Whether every process must be in a group.
enum class Coverage : std::uint8_t { All, Some };

/// The group that contains the evaluating process, as process numbers in order. Empty if no group
/// has it and `coverage` is Some. An error at `op` if ids are not those of the grid.
llvm::Expected<std::vector<std::int64_t>> processGroup(mlir::Operation* op,
                                                       mlir::Attribute replicaGroups,
                                                       stablehlo::GroupKind kind, Coverage coverage,
                                                       Evaluation& evaluation);

/// The process that this one receives from, and the one that it sends to, by source_target_pairs;
/// nullopt if there is none.
struct Route {
  std::optional<std::int64_t> source, target;
};
/// The route of the evaluating process. An error at `op` if ids are not those of the grid.
llvm::Expected<Route> routeOf(mlir::Operation* op, mlir::DenseIntElementsAttr pairs,
                              stablehlo::GroupKind kind, Evaluation& evaluation);

/// The name of the queue for messages of `name` from `source` to `target`.
inline std::string routeName(const std::string& name, std::int64_t source, std::int64_t target) {
  return name + " " + std::to_string(source) + ">" + std::to_string(target);
}

} // namespace octavo::interpreter
