// Reading MLIR text of this and of newer MLIR, with errors in octavo's own words: operations that
// octavo does not have, of any dialect and in either spelling, and nesting that would exhaust the
// stack of MLIR's parser.
#pragma once

#include "octavo/Dialect/UnreadFunctions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <functional>
#include <memory>

namespace octavo {

/// How deep regions, types and attributes may nest in a program, and how many operators an affine
/// expression may have.
inline constexpr unsigned kMaxNesting = 2500;

/// Fails, with an error at the place, where a program's text nests deeper than that
/// (TextNesting.h).
llvm::LogicalResult checkNesting(const llvm::MemoryBuffer& text, mlir::MLIRContext* context);

/// The same text as MLIR's parser of this version takes it: constants of booleans in hexadecimal
/// have eight to a byte, where newer versions (JAX 0.10) print a byte for each. Places in it stay.
std::unique_ptr<llvm::MemoryBuffer> withPackedBooleans(std::unique_ptr<llvm::MemoryBuffer> text);

/// Does `work` on a thread whose stack holds what recurses over a program of kMaxNesting.
void withDeepStack(const std::function<void()>& work);

/// Reads and verifies a program; null after errors. They go to the context's handlers, and MLIR's
/// about unknown operations are replaced by one that names all that octavo does not have. The
/// context must allow unregistered dialects.
mlir::OwningOpRef<mlir::ModuleOp> readProgramText(llvm::SourceMgr& sources,
                                                  mlir::MLIRContext* context);
/// The same; functions that break a rule are all named, or left out.
mlir::OwningOpRef<mlir::ModuleOp>
readProgramText(llvm::SourceMgr& sources, mlir::MLIRContext* context, UnreadFunctions& unread);

} // namespace octavo
