// Data movement: operations that only pass values on, and the origins of their results.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::transforms {

class ProgramCalls;

/// Whether `op` only declares how its operand is sharded over a mesh.
bool laysOut(mlir::Operation* op);

/// Whether `op` chooses one of its regions and returns that region's values (if, case).
bool isBranch(mlir::Operation* op);

/// Whether `op` has as many results as operands, and the elements of result i come from operand i.
bool makesEachOfOne(mlir::Operation* op);

/// The operand whose values `value` repeats: permuted, reshaped, converted, broadcast, sliced by
/// constants or indices, received from other devices, or behind a barrier. Null if `value` is not
/// such a result.
mlir::Value movedFrom(mlir::Value value);

/// Follows movedFrom as far as it goes.
mlir::Value unmoved(mlir::Value value);

/// The result number of an OpResult.
unsigned placeOfResult(mlir::Value result);

/// Operand `place` of the terminator of a region's block.
mlir::Value handedAt(mlir::Region& region, unsigned place);

/// Whether `value` is defined outside the regions of `op`.
bool standsBefore(mlir::Value value, mlir::Operation* op);

/// The value that `value` equals, element for element, if calls, branches and loops pass it on
/// unchanged. `program`, if given, resolves calls without a search.
mlir::Value originOf(mlir::Value value, const ProgramCalls* program = nullptr);

/// The operand of a call that `value`, a result of that call, passes on through operations for
/// which `letThrough` holds. Null if the function computes the result, or `value` is not the result
/// of a call.
mlir::Value handedThrough(mlir::Value value, llvm::function_ref<bool(mlir::Operation*)> letThrough,
                          const ProgramCalls* program = nullptr);

} // namespace octavo::transforms
