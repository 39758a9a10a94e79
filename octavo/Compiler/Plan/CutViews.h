// Cuts long runs of views (reshape, transpose, slice, ...), so that tracing an index through them
// stays short for each user.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::compiler {

/// The number of the view in a run whose result is copied to memory; the views before it stay index
/// arithmetic.
inline constexpr int kMostViews = 64;

/// Copies the result of each kMostViews-th view in a row to memory, by a conversion to the type
/// that it has. Views that a kernel cannot copy stay.
void cutViews(mlir::ModuleOp module);

} // namespace octavo::compiler
