// The sides of products of scaled tensors, laid out as the kernels take them.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace octavo::compiler {

/// Gives dots of scaled tensors sides of their own that scaledProduct or storedProduct can take:
/// where the axes of a batch are not the first ones, or what is contracted is in the middle, sides
/// with their axes in another order, quantized or packed so, or else taken apart and packed anew;
/// besides of what is quantized in the program, or packed, left ones that are contracted along
/// another axis than their last, or used in other ways too, and matrices on the right that are
/// contracted along their first, so that nothing else has to exchange the axes of their codes.
void layOutSides(mlir::Block& block);

/// Has a dot of floats and a scaled tensor contract the last axis of the former, its left side.
void contractLeftLast(ir::DotGeneralOp dot);

/// What a quantization, or the packing of codes, gives with its axes in that order.
mlir::Value reordered(mlir::OpBuilder& builder, mlir::Operation* op,
                      llvm::ArrayRef<std::int64_t> order);

} // namespace octavo::compiler
