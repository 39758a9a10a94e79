// Program files, in any form: text, portable artifact, jax.export's container.
#pragma once

#include "octavo/Dialect/UnreadFunctions.h"
#include "octavo/Dialect/VHLO/Version.h"
#include "octavo/Session/Binding/JaxExport.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace octavo::session {

using octavo::UnreadFunction;

/// The form of a program file.
enum class ProgramForm : std::uint8_t {
  Text,      ///< MLIR text
  Artifact,  ///< a portable artifact of StableHLO, or MLIR bytecode with octavo's own operations
  JaxExport, ///< an artifact in jax.export's container
};

/// A program that was read from a file.
struct ProgramFile {
  mlir::OwningOpRef<mlir::ModuleOp> program; ///< verified
  ProgramForm form = ProgramForm::Text;
  std::optional<vhlo::Version> version; ///< of the artifact, if it states one
  std::optional<JaxExport> container;   ///< for JaxExport only
  std::vector<UnreadFunction> leftOut;  ///< unreadable functions, for Unreadable::LeftOut
};

/// How to treat calls to octavo.jax.
enum class JaxModuleCalls : std::uint8_t {
  Opened, ///< replaced by the operations that they stand for
  Kept,   ///< kept, so that JAX can read the program
};

/// How to treat functions that cannot be read.
enum class Unreadable : std::uint8_t {
  Refused, ///< reading fails; the error names all of them
  LeftOut, ///< removed, with everything that refers to them; fails if nothing is left
};

/// Reads and verifies a program; its form follows from its bytes. The error names the file, and
/// says what the reader or the verifier found, and where.
llvm::Expected<ProgramFile> readProgramFile(const std::filesystem::path& path,
                                            mlir::MLIRContext& context,
                                            JaxModuleCalls calls = JaxModuleCalls::Opened,
                                            Unreadable unreadable = Unreadable::Refused);

/// The same for bytes in memory; `name` replaces the file in errors.
llvm::Expected<ProgramFile> readProgram(llvm::StringRef bytes, const std::string& name,
                                        mlir::MLIRContext& context,
                                        JaxModuleCalls calls = JaxModuleCalls::Opened,
                                        Unreadable unreadable = Unreadable::Refused);

/// The program as text, with locations.
std::string programText(mlir::ModuleOp program);

/// The program as an artifact of VHLO version `target`. If it has operations of octavo's own, which
/// artifacts cannot contain, the result is MLIR bytecode that octavo reads.
llvm::Expected<std::string> programArtifact(mlir::ModuleOp program, const vhlo::Version& target);

/// Whether the program uses operations or types of octavo's own dialect.
bool hasOwnOperations(mlir::ModuleOp program);

} // namespace octavo::session
