// The operations of a bytecode file held against the counts that the file states. MLIR's reader
// takes these on trust: a wrong one makes it write past the end of its tables.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace octavo::vhlo {

/// What is wrong with the file's operations and at which byte; nothing if their counts fit
/// together, or if the file is damaged elsewhere, which MLIR's reader finds by itself.
std::optional<std::string> checkBytecode(llvm::StringRef bytes);

} // namespace octavo::vhlo
