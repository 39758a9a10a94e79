// Processes of a grid by the ids that operations give.
#pragma once

#include "octavo/Dialect/StableHLO/Groups.h"
#include "octavo/Interpreter/Evaluation.h"

namespace octavo::interpreter {

/// Whether every process must be in a group.
enum class Coverage : std::uint8_t { All, Some };

/// The group of the process that evaluates `op`, its processes in their order; empty if it is in
/// none. An error where the ids are not those of the grid.
llvm::Expected<std::vector<std::int64_t>> processGroup(mlir::Operation* op,
                                                       mlir::Attribute replicaGroups,
                                                       stablehlo::GroupKind kind, Coverage coverage,
                                                       Evaluation& evaluation);

/// Where the process sends to and what it receives from by source_target_pairs.
struct Route {
  std::optional<std::int64_t> source, target;
};
llvm::Expected<Route> routeOf(mlir::Operation* op, mlir::DenseIntElementsAttr pairs,
                              stablehlo::GroupKind kind, Evaluation& evaluation);

/// What is sent under `name` from one process to another.
inline std::string routeName(const std::string& name, std::int64_t source, std::int64_t target) {
  return name + " " + std::to_string(source) + ">" + std::to_string(target);
}

} // namespace octavo::interpreter
