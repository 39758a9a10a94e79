// Writes octavo.rows_of_groups as StableHLO.
#pragma once

#include "octavo/Dialect/Octavo/RowsOfGroups.h"

#include "mlir/IR/Builders.h"

namespace octavo::transforms {

/// The value of `rows`, whose extents are known. Negative sizes count as 0; the operation itself
/// refuses them at run time.
mlir::Value emitRowsOfGroups(mlir::OpBuilder& builder, ir::RowsOfGroupsOp rows);

} // namespace octavo::transforms
