// The folder of a compiled program, from which it runs without a compiler.
#pragma once

#include "octavo/Execution/Savable.h"
#include "octavo/Pipelines/Codegen.h"
#include "octavo/Steps/Program.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::pipelines {

/// Writes a program to a folder, which is made if it is not there: what other files it has stay,
/// the program's own are replaced one by one. `bound` has a value for each argument that is no
/// argument of the folder's program. The program is of no use afterwards. The error names what has
/// no form in a folder, or a file.
llvm::Error writeFolder(const std::filesystem::path& folder, steps::Program program,
                        std::span<const std::string> kernels, const execution::Signature& signature,
                        std::span<const std::optional<execution::Value>> bound);

} // namespace octavo::pipelines
