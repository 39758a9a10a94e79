// Converts the attributes of operations between VHLO and StableHLO. VHLO has other forms, writes
// defaults that StableHLO omits, and splits structures into one attribute for each part.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::vhlo {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Replaces the attributes of a VHLO operation by those of the StableHLO operation: joins
/// structures and removes defaults. `stem` is the operation's name without dialect and version.
mlir::LogicalResult toStableHLO(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                                mlir::MLIRContext* context, EmitError emitError);

/// The inverse: gives all attributes of VHLO's newest version of the operation `op`.
mlir::LogicalResult toVHLO(llvm::StringRef stem, mlir::Operation* op,
                           mlir::NamedAttrList& attributes, EmitError emitError);

/// Whether the attribute has the default value, which StableHLO omits.
bool isDefault(llvm::StringRef stem, llvm::StringRef name, mlir::Attribute value);

} // namespace octavo::vhlo
