// Which processes take part in a collective together: replica_groups, and how its ids are read.
#pragma once

#include "octavo/Dialect/StableHLO/Collectives.h"

#include <cstdint>
#include <vector>

namespace octavo::stablehlo {

/// What the ids of a group are.
enum class GroupKind : std::uint8_t {
  CrossReplica,             ///< replicas; each partition has its own groups
  CrossPartition,           ///< partitions; each replica has its own groups
  CrossReplicaAndPartition, ///< replicas; a group has all partitions of each
  FlattenedIds,             ///< numbers of processes, replica * num_partitions + partition
};

/// channel_id as the specification names it; 0 where there is none.
std::int64_t channelId(std::optional<ChannelHandleAttr> handle);

/// What all_gather, all_reduce and reduce_scatter have: replicas unless there is a channel.
GroupKind reducingGroups(std::int64_t channelId, bool useGlobalDeviceIds);

/// What all_to_all and collective_permute have: partitions where there is a channel.
GroupKind exchangingGroups(std::int64_t channelId);

/// The groups, without padding. An error at `op` where a mesh is not one: a symbol that names none,
/// an axis that it does not have, device ids that are not each device once.
llvm::FailureOr<std::vector<std::vector<std::int64_t>>> groupsOf(mlir::Operation* op,
                                                                 mlir::Attribute replicaGroups);

/// The numbers of the constraints on replica_groups in the section of an operation.
struct GroupRules {
  llvm::StringLiteral unique, inside;
  bool mayBePadded = false; ///< with -1, so that groups may differ in size
  bool coversAll = true;    ///< of n ids each is in 0 to n-1
};

/// Checks them, and gives the groups.
llvm::FailureOr<std::vector<std::vector<std::int64_t>>>
verifyGroups(mlir::Operation* op, const GroupRules& rules, mlir::Attribute replicaGroups);

/// The numbers of the constraints on source_target_pairs.
struct PairRules {
  llvm::StringLiteral columns, sources, targets, inside;
};
llvm::LogicalResult verifyPairs(mlir::Operation* op, const PairRules& rules,
                                mlir::DenseIntElementsAttr pairs);

} // namespace octavo::stablehlo
