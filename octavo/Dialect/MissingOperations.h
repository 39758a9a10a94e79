// Operations that a program uses and octavo does not have: named in octavo's own words, all of
// them at once, in either of MLIR's spellings.
#pragma once

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace octavo {

/// What a dialect's getParseOperationHook gives: MLIR calls it for names without a custom form.
/// Fails at the name; a note counts the operations of the whole text that octavo does not have.
mlir::ParseResult refuseCustomForm(mlir::OpAsmParser& parser, mlir::OperationState& state);

/// Fails where operations of the program are not registered: an error at the first, with a note
/// that counts each. The context has to let them be parsed: a dialect by allowUnknownOperations,
/// the context by allowUnregisteredDialects.
llvm::LogicalResult verifyHasOperations(mlir::Operation* program);

/// Whether a program's text names operations that octavo does not have.
bool namesMissingOperations(llvm::StringRef text, mlir::MLIRContext* context);

/// Whether an operation that octavo does not have is named at that place of a program's text.
bool standsAtMissingOperation(llvm::StringRef text, unsigned line, unsigned column,
                              mlir::MLIRContext* context);

/// The error at the location of such a name, of all in the text.
void emitMissingOperations(mlir::FileLineColLoc at, llvm::StringRef text);

} // namespace octavo
