// Views of views of views: cut, so that what goes through them from each of their users stays
// short.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::compiler {

/// So many views in a row are arithmetic on indices; the next one is of a tensor in memory.
inline constexpr int kMostViews = 64;

/// Has what kMostViews views in a row give lie in memory: a conversion to its own type, which is a
/// copy.
void cutViews(mlir::ModuleOp module);

} // namespace octavo::compiler
