// All dialects of the project in one call.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace octavo {

/// Registers builtin's companions that programs use (func, quant, and arith, cf, math, scf, shape
/// and tensor, of which exporters leave some), StableHLO, CHLO, check and octavo.
void registerDialects(mlir::DialectRegistry& registry);

} // namespace octavo
