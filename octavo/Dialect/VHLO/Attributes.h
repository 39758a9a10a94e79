// How the attributes of StableHLO's operations are spelled in VHLO: other forms, defaults that are
// absent there and written here, structures taken apart.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::vhlo {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Turns the attributes of a VHLO operation into those of StableHLO's: structures are put together,
/// and what is the default is left out. `stem` is the name without dialect and version.
mlir::LogicalResult toStableHLO(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                                mlir::MLIRContext* context, EmitError emitError);

/// The inverse: the attributes that VHLO's newest version of the operation `op` has, all of them.
mlir::LogicalResult toVHLO(llvm::StringRef stem, mlir::Operation* op,
                           mlir::NamedAttrList& attributes, EmitError emitError);

/// Whether the attribute of a VHLO operation has the value that StableHLO leaves out.
bool isDefault(llvm::StringRef stem, llvm::StringRef name, mlir::Attribute value);

} // namespace octavo::vhlo
