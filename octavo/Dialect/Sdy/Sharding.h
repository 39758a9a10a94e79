// The shardings of values: constraints (S1) to (S8) of TensorSharding.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

#include <string>

namespace octavo::sdy {

/// The extents of a tensor, a scaled one too; nothing for a type that is no ranked tensor.
std::optional<llvm::ArrayRef<std::int64_t>> extentsOf(mlir::Type type);

/// The mesh that a sharding at `from` is on: null where the program does not have it.
MeshAttr meshOf(TensorShardingAttr sharding, mlir::Operation* from);

/// (S2) to (S8) for the sharding of a value of a type. `what` is the sharding in errors: "the
/// sharding of result 0".
llvm::LogicalResult verifySharding(mlir::Operation* op, const std::string& what,
                                   TensorShardingAttr sharding, mlir::Type type);

/// (S1) to (S8) for the shardings of all operands, or results: `side` is the singular.
llvm::LogicalResult verifyShardings(mlir::Operation* op, llvm::StringRef side,
                                    llvm::ArrayRef<TensorShardingAttr> shardings,
                                    mlir::TypeRange types);

/// The sharding that the program says a value has: null where it says none. In a manual computation
/// it is that of a part, without the manual axes.
TensorShardingAttr shardingOf(mlir::Value value);

/// Whether a manual computation around `op` is manual along an axis.
bool isManualAround(mlir::Operation* op, llvm::StringRef axis);

} // namespace octavo::sdy
