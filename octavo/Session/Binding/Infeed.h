// Reads the values for a program's infeeds from files.
#pragma once

#include "octavo/Program/Values/RunContext.h"

#include "llvm/Support/Error.h"

#include <string>

namespace octavo::session {

/// The tensors of one infeed. `paths` are NumPy files, separated by commas.
llvm::Expected<program::Feed> readFeed(const std::string& paths);

} // namespace octavo::session
