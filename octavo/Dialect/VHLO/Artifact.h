// Reads and writes portable artifacts, in which jax.export, TensorFlow and others store StableHLO:
// MLIR bytecode of the dialect VHLO. All versions from 0.9.0 on can be read, and the version to
// write can be chosen.
#pragma once

#include "octavo/Dialect/UnreadFunctions.h"
#include "octavo/Dialect/VHLO/Version.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace octavo::vhlo {

/// Whether the bytes begin like MLIR bytecode.
bool isBytecode(llvm::StringRef bytes);

/// The version in the artifact's header; nullopt if it has none, such as bytecode of other
/// dialects.
std::optional<Version> versionOf(llvm::StringRef bytes);

/// Reads an artifact, or bytecode of dialects that octavo has, as a StableHLO program, and does not
/// verify it. Returns null, with diagnostics, if the bytes are damaged, have a newer version, or
/// have operations that octavo does not have; those are all named and counted. `unread` decides
/// whether functions that cannot be read are an error or are removed.
mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::MemoryBufferRef bytes,
                                               mlir::MLIRContext* context, UnreadFunctions& unread);
/// The same, with functions that cannot be read as an error.
mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::MemoryBufferRef bytes,
                                               mlir::MLIRContext* context);

/// The artifact, of version `target`, of a verified StableHLO program. Fails, with diagnostics, if
/// the version lacks an operation, type or attribute.
mlir::FailureOr<std::string> writeArtifact(mlir::ModuleOp program, const Version& target);

} // namespace octavo::vhlo
