// Names that people know things by: what the front end wrote into locations and attributes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Location.h"

#include <string>

namespace octavo::transforms {

/// The name that a location carries, "jit(f)/layer0/dot_general"; else FILE:LINE:COLUMN without the
/// folder; else "?".
std::string sourceName(mlir::Location location);

/// The name of an argument: its attribute `octavo.name`, else what its location names, else argN.
std::string argumentName(mlir::func::FuncOp function, unsigned index);

} // namespace octavo::transforms
