// Operations, attributes and types that a program uses and octavo does not have: named in octavo's
// own words, all of them at once, in either of MLIR's spellings.
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

/// Whether a program's text names operations, attributes or types that octavo does not have.
bool hasMissingNames(llvm::StringRef text, mlir::MLIRContext* context);

/// Whether an operation, attribute or type that octavo does not have is named at that place of a
/// program's text.
bool standsAtMissingName(llvm::StringRef text, unsigned line, unsigned column,
                         mlir::MLIRContext* context);

/// The error at the location of such a name, with a note that counts all of them in the text: all
/// operations, or all attributes and types of the dialect.
void emitMissingNames(mlir::FileLineColLoc at, llvm::StringRef text);

} // namespace octavo
