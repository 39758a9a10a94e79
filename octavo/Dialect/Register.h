// All dialects of the project in one call.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace octavo {

/// Registers builtin's companions that programs use (func, quant), StableHLO, CHLO, check and
/// octavo.
void registerDialects(mlir::DialectRegistry& registry);

} // namespace octavo
