// Legalizes CHLO operations that are not elementwise functions. Each function writes StableHLO
// operations with `builder` and returns the values that replace the results of `op`.
#pragma once

#include "octavo/Dialect/CHLO/CHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace octavo::transforms {

using Replacements = llvm::SmallVector<mlir::Value, 2>;

/// The operands of a broadcast_* operation, broadcast to one shape.
Replacements broadcastOperands(mlir::OpBuilder& builder, mlir::Operation* op);

/// A constant of zeros; `type` is static.
mlir::Value zeros(mlir::OpBuilder& builder, mlir::Location at, mlir::RankedTensorType type);

// Broadcasts.cpp
Replacements legalizeBroadcast(mlir::OpBuilder& builder, mlir::Operation* op);
Replacements legalizeBroadcastCompare(mlir::OpBuilder& builder, mlir::Operation* op);

// Constants.cpp
Replacements legalizeConstant(mlir::OpBuilder& builder, mlir::Operation* op);
Replacements legalizeConstantLike(mlir::OpBuilder& builder, mlir::Operation* op);

// RaggedDot.cpp
Replacements legalizeRaggedDot(mlir::OpBuilder& builder, mlir::Operation* op);

// Scan.cpp
Replacements legalizeScan(mlir::OpBuilder& builder, mlir::Operation* op);

// TopK.cpp
Replacements legalizeTopK(mlir::OpBuilder& builder, mlir::Operation* op);

} // namespace octavo::transforms
