// Writes the types and attributes of an artifact: each is a code and then its fields.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace octavo::vhlo {

/// Writes a type or an attribute of MLIR or StableHLO that `since` (Availability.h) has a version
/// for.
llvm::LogicalResult writeType(mlir::Type type, mlir::DialectBytecodeWriter& writer);
llvm::LogicalResult writeAttribute(mlir::Attribute attribute, mlir::DialectBytecodeWriter& writer);

} // namespace octavo::vhlo
