// Reads programs from MLIR text, also text that a newer MLIR printed. Reports errors in octavo's
// words for missing operations and for nesting that would exhaust the stack of MLIR's parser.
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

/// The deepest nesting of each kind of bracket, and the most operators in one affine expression.
inline constexpr unsigned kMaxNesting = 2500;

/// Fails, with an error at the place, if the text exceeds kMaxNesting (TextNesting.h).
llvm::LogicalResult checkNesting(const llvm::MemoryBuffer& text, mlir::MLIRContext* context);

/// The text with constants of booleans in the form that this MLIR's parser accepts: hexadecimal
/// with eight booleans to a byte. Newer versions (JAX 0.10) print one byte for each boolean. Lines
/// and columns stay the same; returns the buffer itself if nothing changes.
std::unique_ptr<llvm::MemoryBuffer> withPackedBooleans(std::unique_ptr<llvm::MemoryBuffer> text);

/// Runs `work` on a thread with a stack of 256 MB, enough to recurse over a program nested
/// kMaxNesting deep. Waits for the thread.
void withDeepStack(const std::function<void()>& work);

/// Reads and verifies a program; null after errors, which go to the context's handlers. MLIR's
/// errors about unknown operations are replaced by one error that names all operations that octavo
/// does not have. The context must allow unregistered dialects.
mlir::OwningOpRef<mlir::ModuleOp> readProgramText(llvm::SourceMgr& sources,
                                                  mlir::MLIRContext* context);
/// The same. `unread` decides whether invalid functions are an error, which names all of them, or
/// are removed.
mlir::OwningOpRef<mlir::ModuleOp>
readProgramText(llvm::SourceMgr& sources, mlir::MLIRContext* context, UnreadFunctions& unread);

} // namespace octavo
