// Checked readers for the types and attributes of MLIR's builtin and quant dialects in a bytecode
// file. MLIR's own readers trust the file: they assert where these readers report an error.
#pragma once

#include "mlir/Bytecode/BytecodeReaderConfig.h"

namespace octavo::vhlo {

/// Makes `config` read the entries of these dialects with checks.
void addEntryReaders(mlir::BytecodeReaderConfig& config);

} // namespace octavo::vhlo
