// What of MLIR's and StableHLO's types and attributes has a place in an artifact, and since when.
#pragma once

#include "octavo/Dialect/VHLO/Version.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace octavo::vhlo {

/// The first version that has the type or the attribute, with all that it consists of; nothing if
/// none has.
std::optional<Version> since(mlir::Type type);
std::optional<Version> since(mlir::Attribute attribute);

/// Artifacts may have Shardy's operations and attributes from this version on, as they are.
inline constexpr Version kMixed{1, 11, 0};
bool isForeign(mlir::Operation* op);
bool isForeign(mlir::Attribute attribute);

} // namespace octavo::vhlo
