// Which dimensions of an operation's operands and results go together.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

#include <string>

namespace octavo::sdy {

/// `i` to `z` for the first factors, `z_1` and so on for the others.
std::string factorName(std::int64_t factor);

/// (R1) to (R4) for the rule of an operation.
llvm::LogicalResult verifyShardingRule(mlir::Operation* op, OpShardingRuleAttr rule);

} // namespace octavo::sdy
