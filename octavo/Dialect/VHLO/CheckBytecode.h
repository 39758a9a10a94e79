// A bytecode file held against the counts and references that it states. MLIR's reader takes these
// on trust: a wrong one makes it write past the end of its tables, ask for more memory than there
// is, or go round in a circle.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace octavo::vhlo {

/// What is wrong with the file's tables and operations and at which byte; nothing if they fit
/// together, or if the file is damaged elsewhere, which MLIR's reader finds by itself.
std::optional<std::string> checkBytecode(llvm::StringRef bytes);

} // namespace octavo::vhlo
