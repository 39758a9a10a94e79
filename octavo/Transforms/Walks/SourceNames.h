// Names that people know things by: what the front end wrote into locations.
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace octavo::transforms {

/// The name that a location carries, "jit(f)/layer0/dot_general"; else FILE:LINE:COLUMN without the
/// folder; else "?".
std::string sourceName(mlir::Location location);

} // namespace octavo::transforms
