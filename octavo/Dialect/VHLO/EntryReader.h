// Reads the types and attributes of an artifact: each is a code and then its fields.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace octavo::vhlo {

/// The next entry as one of MLIR or StableHLO. Null, with a diagnostic, if it is damaged or of a
/// kind that octavo does not know.
mlir::Type readType(mlir::MLIRContext* context, mlir::DialectBytecodeReader& reader);
mlir::Attribute readAttribute(mlir::MLIRContext* context, mlir::DialectBytecodeReader& reader);

} // namespace octavo::vhlo
