// Names of operations for messages: those that the front end wrote into locations.
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace octavo::transforms {

/// The name in a location, "jit(f)/layer0/dot_general"; else FILE:LINE:COLUMN without the folder;
/// else "?".
std::string sourceName(mlir::Location location);

} // namespace octavo::transforms
