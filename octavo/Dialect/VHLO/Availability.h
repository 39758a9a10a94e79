// Which types and attributes of MLIR and StableHLO an artifact can have, and since which version.
#pragma once

#include "octavo/Dialect/VHLO/Version.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace octavo::vhlo {

/// The first version that has the type or attribute and all its parts; nullopt if no version has.
std::optional<Version> since(mlir::Type type);
std::optional<Version> since(mlir::Attribute attribute);

/// From this version on, artifacts may have Shardy's operations and attributes unchanged.
inline constexpr Version kMixed{1, 11, 0};
/// Whether an operation or attribute is Shardy's.
bool isForeign(mlir::Operation* op);
bool isForeign(mlir::Attribute attribute);

} // namespace octavo::vhlo
