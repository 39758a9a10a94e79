// Lays out the sides of scaled products as the kernels take them.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace octavo::compiler {

/// Gives each dot of scaled tensors sides that scaledProduct or storedProduct can take.
/// - If batch axes are not first, or the contracted axis is in the middle: a side with its axes
///   reordered. The quantization or packing is repeated in that order; any other scaled tensor is
///   unpacked and packed again.
/// - If a left side that is quantized or packed in the block contracts another axis than its last,
///   or has other users: a copy for this product.
/// - If a quantized matrix on the right contracts its first axis: a copy that contracts its last,
///   so that no step has to exchange the axes of codes.
void layOutSides(mlir::Block& block);

/// Transposes the float left side of `dot`, so that its last axis is contracted.
void contractLeftLast(ir::DotGeneralOp dot);

/// Repeats a quantization or packing `op` with its axes in the order `order`, and returns the
/// result.
mlir::Value reordered(mlir::OpBuilder& builder, mlir::Operation* op,
                      llvm::ArrayRef<std::int64_t> order);

} // namespace octavo::compiler
