// The folder of a compiled program, from which it runs without a compiler.
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

/// Writes a program to a folder, which is made if it is not there. A folder that has files must be
/// one of a compiled program, whose files these replace: it is that program's or this one's, whole,
/// at every moment, whoever else writes it and wherever the process ends. Its other files stay.
/// `bound` has a value for each argument that is no argument of the folder's program. The program
/// is of no use afterwards. The error names what has no form in a folder, or a file.
llvm::Error writeFolder(const std::filesystem::path& folder, program::Program program,
                        std::span<const std::string> kernels, const program::Signature& signature,
                        std::span<const std::optional<program::Value>> bound);

} // namespace octavo::compiler
