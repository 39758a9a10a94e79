// The types and attributes of MLIR's builtin and quant dialects in a bytecode file. MLIR's own
// readers trust what they read, and assert what ours report.
#pragma once

#include "mlir/Bytecode/BytecodeReaderConfig.h"

namespace octavo::vhlo {

/// Has the entries of these dialects read with checks.
void addEntryReaders(mlir::BytecodeReaderConfig& config);

} // namespace octavo::vhlo
