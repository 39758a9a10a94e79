// What only moves values about.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::transforms {

class ProgramCalls;

/// Whether an operation only says how its operand lies on a mesh.
bool laysOut(mlir::Operation* op);

/// Whether an operation is one of its regions, which something chooses.
bool isBranch(mlir::Operation* op);

/// Whether an operation has as many results as operands, each made of the one at its place.
bool makesEachOfOne(mlir::Operation* op);

/// The operand that an operation gives again: in another order or shape or type, repeated, a part
/// of it that the program or indices choose, that of other devices; behind a barrier. Null where
/// the value is no such result.
mlir::Value movedFrom(mlir::Value value);

/// The value that nothing moves any more: movedFrom as often as it gives one.
mlir::Value unmoved(mlir::Value value);

/// The place of a value among the results of its operation.
unsigned placeOfResult(mlir::Value result);

/// What a region hands on at its end.
mlir::Value handedAt(mlir::Region& region, unsigned place);

/// Whether a value is there before an operation begins.
bool standsBefore(mlir::Value value, mlir::Operation* op);

/// The value that another is, the same at every place through which calls, branches and loops hand
/// it on as it is. `program` finds called functions without a search.
mlir::Value originOf(mlir::Value value, const ProgramCalls* program = nullptr);

/// The operand of a call that a result is, moved about in the function by operations that are let
/// through; null where the function computes it or `value` is no result of a call.
mlir::Value handedThrough(mlir::Value value, llvm::function_ref<bool(mlir::Operation*)> letThrough,
                          const ProgramCalls* program = nullptr);

} // namespace octavo::transforms
