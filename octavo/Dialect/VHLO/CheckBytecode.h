// Checks the counts and references of a bytecode file before MLIR's reader uses it. That reader
// trusts them: a wrong count or reference makes it write beyond its tables, allocate without limit,
// or loop forever.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace octavo::vhlo {

/// What is wrong in the file's tables and operations, and at which byte. nullopt: they are
/// consistent, or the file is damaged in a way that MLIR's reader finds.
std::optional<std::string> checkBytecode(llvm::StringRef bytes);

} // namespace octavo::vhlo
