// All dialects of the project in one call.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace octavo {

/// Registers builtin's companions that programs use (func, quant, and arith, cf, math, scf, shape
/// and tensor, of which exporters leave some), StableHLO, CHLO, check and octavo.
void registerDialects(mlir::DialectRegistry& registry);

/// Loads what almost every program and command needs. The others, which take longer to load than a
/// small program to run, are loaded where a program names them.
void loadDialects(mlir::MLIRContext& context);

} // namespace octavo
