// The groups of processes that take part in a collective together: replica_groups, and what its ids
// mean.
#pragma once

#include "octavo/Dialect/StableHLO/Collectives.h"

#include <cstdint>
#include <vector>

namespace octavo::stablehlo {

/// The meaning of the ids of a group.
enum class GroupKind : std::uint8_t {
  CrossReplica,             ///< replica ids; each partition has its own groups
  CrossPartition,           ///< partition ids; each replica has its own groups
  CrossReplicaAndPartition, ///< replica ids; a group has all partitions of each replica
  FlattenedIds,             ///< process numbers, replica * num_partitions + partition
};

/// channel_id as the specification names it; 0 if there is no channel handle.
std::int64_t channelId(std::optional<ChannelHandleAttr> handle);

/// The kind of all_gather, all_reduce and reduce_scatter. A channel id of 0 or less means replica
/// ids.
GroupKind reducingGroups(std::int64_t channelId, bool useGlobalDeviceIds);

/// The kind of all_to_all and collective_permute: partition ids if the channel id is positive, else
/// replica ids.
GroupKind exchangingGroups(std::int64_t channelId);

/// The groups, without padding. Reports an error at `op` if a mesh is invalid: the symbol is not a
/// mesh, an axis is not in the mesh, or the device ids are not a permutation.
llvm::FailureOr<std::vector<std::vector<std::int64_t>>> groupsOf(mlir::Operation* op,
                                                                 mlir::Attribute replicaGroups);

/// The numbers of the constraints on replica_groups in the operation's section.
struct GroupRules {
  llvm::StringLiteral unique, inside;
  bool mayBePadded = false; ///< with -1, so that groups can differ in size
  bool coversAll = true;    ///< n ids must be exactly 0 to n-1
};

/// Verifies replica_groups and returns the groups.
llvm::FailureOr<std::vector<std::vector<std::int64_t>>>
verifyGroups(mlir::Operation* op, const GroupRules& rules, mlir::Attribute replicaGroups);

/// The numbers of the constraints on source_target_pairs.
struct PairRules {
  llvm::StringLiteral columns, sources, targets, inside;
};
/// Verifies source_target_pairs: two columns, unique sources, unique targets, ids of at most 32
/// bits.
llvm::LogicalResult verifyPairs(mlir::Operation* op, const PairRules& rules,
                                mlir::DenseIntElementsAttr pairs);

} // namespace octavo::stablehlo
