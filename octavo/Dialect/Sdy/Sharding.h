// Reads and verifies the shardings of values: constraints (S1) to (S8) of TensorSharding.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

#include <string>

namespace octavo::sdy {

/// The extents of a ranked tensor or a scaled tensor; nullopt for any other type.
std::optional<llvm::ArrayRef<std::int64_t>> extentsOf(mlir::Type type);

/// The mesh of a sharding that is used at `from`; null if the program does not have it.
MeshAttr meshOf(TensorShardingAttr sharding, mlir::Operation* from);

/// Verifies (S2) to (S8) for the sharding of a value of type `type`. `what` names the sharding in
/// errors: "the sharding of result 0".
llvm::LogicalResult verifySharding(mlir::Operation* op, const std::string& what,
                                   TensorShardingAttr sharding, mlir::Type type);

/// Verifies (S1) to (S8) for the shardings of all operands or results. `side` is the singular,
/// "operand" or "result".
llvm::LogicalResult verifyShardings(mlir::Operation* op, llvm::StringRef side,
                                    llvm::ArrayRef<TensorShardingAttr> shardings,
                                    mlir::TypeRange types);

/// The sharding that the program gives a value; null if it gives none. Inside a manual computation
/// the sharding is that of the local part, without the manual axes.
TensorShardingAttr shardingOf(mlir::Value value);

/// Whether `op` is inside a manual computation that has `axis` among its manual axes.
bool isManualAround(mlir::Operation* op, llvm::StringRef axis);

} // namespace octavo::sdy
