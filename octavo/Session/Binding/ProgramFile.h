// The forms in which a program lies in a file: text, a portable artifact, jax.export's container.
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

enum class ProgramForm : std::uint8_t {
  Text,      ///< MLIR's
  Artifact,  ///< StableHLO in a portable artifact, or MLIR bytecode of octavo's own operations
  JaxExport, ///< an artifact within jax.export's container
};

struct ProgramFile {
  mlir::OwningOpRef<mlir::ModuleOp> program; ///< verified
  ProgramForm form = ProgramForm::Text;
  std::optional<vhlo::Version> version; ///< of the artifact, where it says it
  std::optional<JaxExport> container;   ///< of JaxExport
  std::vector<UnreadFunction> leftOut;  ///< functions that cannot be read, if that was asked for
};

/// What becomes of calls of octavo.jax.
enum class JaxModuleCalls : std::uint8_t {
  Opened, ///< they are the operations that they stand for
  Kept,   ///< so that the program is JAX's
};

/// What becomes of functions that cannot be read.
enum class Unreadable : std::uint8_t {
  Refused, ///< the error names them all
  LeftOut, ///< with what refers to them; a program of none is refused
};

/// Reads and verifies a program in any of the forms; the bytes tell which. The error names the file
/// and says what the reader or the verifier found, and where.
llvm::Expected<ProgramFile> readProgramFile(const std::filesystem::path& path,
                                            mlir::MLIRContext& context,
                                            JaxModuleCalls calls = JaxModuleCalls::Opened,
                                            Unreadable unreadable = Unreadable::Refused);

/// The same of bytes in memory; `name` stands for them in errors.
llvm::Expected<ProgramFile> readProgram(llvm::StringRef bytes, const std::string& name,
                                        mlir::MLIRContext& context,
                                        JaxModuleCalls calls = JaxModuleCalls::Opened,
                                        Unreadable unreadable = Unreadable::Refused);

/// The bytes of a program as text with its locations.
std::string programText(mlir::ModuleOp program);

/// The bytes of a program as an artifact of VHLO `target`. A program with operations of octavo's
/// own, which artifacts do not hold, becomes MLIR bytecode, which octavo reads.
llvm::Expected<std::string> programArtifact(mlir::ModuleOp program, const vhlo::Version& target);

/// Whether the program has operations or types of octavo's own dialect.
bool hasOwnOperations(mlir::ModuleOp program);

} // namespace octavo::session
