// Writes shapes that are known only at run time, for operations that take them as operands.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace octavo::transforms {

/// The type of a ranked tensor, whose extents may be unknown.
inline mlir::RankedTensorType rankedType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The extent of `axis` as tensor<1xi32>.
mlir::Value extentOf(mlir::OpBuilder& builder, mlir::Location at, mlir::Value tensor,
                     std::int64_t axis);

/// A constant tensor<N x i32>.
mlir::Value numbers(mlir::OpBuilder& builder, mlir::Location at,
                    llvm::ArrayRef<std::int32_t> numbers);

/// Concatenates extents, each a tensor<1xi32>, to a shape.
mlir::Value shapeOfExtents(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange extents);

/// The shape of a tensor, as tensor<rank x i32>.
mlir::Value shapeOf(mlir::OpBuilder& builder, mlir::Location at, mlir::Value tensor);

/// dynamic_broadcast_in_dim to `shape`, of `type`: axis i of the operand is axis axes[i].
mlir::Value broadcast(mlir::OpBuilder& builder, mlir::Location at, mlir::Value operand,
                      mlir::Value shape, mlir::RankedTensorType type,
                      llvm::ArrayRef<std::int64_t> axes);

} // namespace octavo::transforms
