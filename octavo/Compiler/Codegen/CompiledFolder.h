// Writes the folder of a compiled program, which runs without a compiler.
#pragma once

#include "octavo/Compiler/Codegen/Codegen.h"
#include "octavo/Program/Steps/Program.h"
#include "octavo/Program/Values/Savable.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::compiler {

/// Writes a program to a folder, which is created if it is missing.
///
/// If the folder has files, it must be that of a compiled program, whose files are replaced; other
/// files stay. At every moment the folder has the old program or the new one, complete, even if
/// other processes write it or this one is killed.
///
/// `bound` has a value for each argument that the folder's program does not take. `program` cannot
/// be used afterwards. The error names what cannot be written to a folder, or a file.
llvm::Error writeFolder(const std::filesystem::path& folder, program::Program program,
                        std::span<const std::string> kernels, const program::Signature& signature,
                        std::span<const std::optional<program::Value>> bound);

} // namespace octavo::compiler
