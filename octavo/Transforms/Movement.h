// What only moves values about.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::transforms {

/// Whether an operation only says how its operand lies on a mesh.
bool laysOut(mlir::Operation* op);

/// The operand that an operation gives again: in another order or shape or type, repeated, a part
/// of it that the program or indices choose, that of other devices; behind a barrier. Null where
/// the value is no such result.
mlir::Value movedFrom(mlir::Value value);

/// The operand of a call that a result is, moved about in the function by operations that are let
/// through; null where the function computes it or `value` is no result of a call.
mlir::Value handedThrough(mlir::Value value, llvm::function_ref<bool(mlir::Operation*)> letThrough);

} // namespace octavo::transforms
