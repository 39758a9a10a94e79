// Registers and loads the dialects that programs use.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace octavo {

/// Registers func and quant, StableHLO, CHLO, check, interpreter, octavo and Shardy, the attributes
/// of MHLO, and those dialects of MLIR that exporters leave in programs: arith, cf, math, scf,
/// shape, tensor.
void registerDialects(mlir::DialectRegistry& registry);

/// Loads the dialects that almost every program needs. The others are loaded when a program names
/// them, because loading them takes longer than running a small program.
void loadDialects(mlir::MLIRContext& context);

} // namespace octavo
