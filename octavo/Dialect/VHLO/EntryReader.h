// Reads the types and attributes of an artifact: a code, then its fields.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace octavo::vhlo {

/// Reads the next entry as a type or attribute of MLIR or StableHLO. Null, with a diagnostic, if it
/// is damaged or octavo does not know its code.
mlir::Type readType(mlir::MLIRContext* context, mlir::DialectBytecodeReader& reader);
mlir::Attribute readAttribute(mlir::MLIRContext* context, mlir::DialectBytecodeReader& reader);

} // namespace octavo::vhlo
