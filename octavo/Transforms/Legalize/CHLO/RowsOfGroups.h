// octavo.rows_of_groups as operations of StableHLO.
#pragma once

#include "octavo/Dialect/Octavo/RowsOfGroups.h"

#include "mlir/IR/Builders.h"

namespace octavo::transforms {

/// Its value, of known extents. Sizes below 0, which the operation refuses when it runs, count as
/// 0.
mlir::Value emitRowsOfGroups(mlir::OpBuilder& builder, ir::RowsOfGroupsOp rows);

} // namespace octavo::transforms
