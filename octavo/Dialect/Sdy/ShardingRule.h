// Sharding rules: factors relate dimensions of an operation's operands and results that are sharded
// alike.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

#include <string>

namespace octavo::sdy {

/// The name of a factor in the text: `i` to `z` for the first factors, then `z_1`, `z_2` and so on.
std::string factorName(std::int64_t factor);

/// Verifies (R1) to (R4) for the rule of an operation.
llvm::LogicalResult verifyShardingRule(mlir::Operation* op, OpShardingRuleAttr rule);

} // namespace octavo::sdy
