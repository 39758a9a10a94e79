// Errors for operations, attributes and types that a program uses and octavo does not have. One
// error names all of them, in both of MLIR's spellings (custom and generic).
#pragma once

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace octavo {

/// The result of a dialect's getParseOperationHook, which MLIR calls for names without a custom
/// form. Reports an error at the name and fails. For an operation that octavo does not have, a note
/// counts all such operations of the text.
mlir::ParseResult refuseCustomForm(mlir::OpAsmParser& parser, mlir::OperationState& state);

/// Fails if an operation of `program` is not registered: an error at the first one, and a note that
/// counts each name. Such operations can only be parsed if the dialect has allowUnknownOperations
/// or the context allowUnregisteredDialects.
llvm::LogicalResult verifyHasOperations(mlir::Operation* program);

/// Whether the text names operations, attributes or types that octavo does not have. Loads the
/// dialects that are named.
bool hasMissingNames(llvm::StringRef text, mlir::MLIRContext* context);

/// Whether a name that octavo does not have begins at `line` and `column` of the text. Both count
/// from 1.
bool standsAtMissingName(llvm::StringRef text, unsigned line, unsigned column,
                         mlir::MLIRContext* context);

/// Reports an error at `at`, where such a name begins. A note counts the missing names of the text:
/// all operations, or all attributes and types of the same dialect.
void emitMissingNames(mlir::FileLineColLoc at, llvm::StringRef text);

} // namespace octavo
