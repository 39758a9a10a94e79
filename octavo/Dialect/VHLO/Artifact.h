// Portable artifacts: StableHLO as jax.export, TensorFlow and others keep it, MLIR bytecode of the
// dialect VHLO. Every version from 0.9.0 on is read; a version can be named for writing.
#pragma once

#include "octavo/Dialect/UnreadFunctions.h"
#include "octavo/Dialect/VHLO/Version.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace octavo::vhlo {

/// Whether the bytes begin as MLIR bytecode does.
bool isBytecode(llvm::StringRef bytes);

/// The version that an artifact says it was written for; nothing where it says none, as bytecode of
/// other dialects does not.
std::optional<Version> versionOf(llvm::StringRef bytes);

/// Reads an artifact, or bytecode of the dialects that octavo knows, as a program of StableHLO. Not
/// verified. Null, with diagnostics that say what is wrong, if it is damaged, of a newer version,
/// or has operations that octavo does not know: all of them are named, with their number. Functions
/// that cannot be read are all named too, or left out.
mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::MemoryBufferRef bytes,
                                               mlir::MLIRContext* context, UnreadFunctions& unread);
mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::MemoryBufferRef bytes,
                                               mlir::MLIRContext* context);

/// The bytes of a verified program of StableHLO as an artifact of version `target`. Fails, with
/// diagnostics, on operations, types and attributes that the version does not have.
mlir::FailureOr<std::string> writeArtifact(mlir::ModuleOp program, const Version& target);

} // namespace octavo::vhlo
