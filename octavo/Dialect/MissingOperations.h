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

/// "vhlo.add_v1 (3 times), vhlo.call_v1 (once)": the operations that a program's text names of
/// dialects that are not loaded, sorted; empty if there are none. MLIR cannot read their custom
/// form.
std::string operationsOfUnknownDialects(llvm::StringRef text, mlir::MLIRContext* context);

} // namespace octavo
