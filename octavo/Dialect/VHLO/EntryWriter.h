// Writes the types and attributes of an artifact: a code, then its fields.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace octavo::vhlo {

/// Writes a type or attribute of MLIR or StableHLO for which `since` (Availability.h) has a
/// version. Fails for any other.
llvm::LogicalResult writeType(mlir::Type type, mlir::DialectBytecodeWriter& writer);
llvm::LogicalResult writeAttribute(mlir::Attribute attribute, mlir::DialectBytecodeWriter& writer);

} // namespace octavo::vhlo
