// Files for what a program's infeeds take.
#pragma once

#include "octavo/Program/Values/RunContext.h"

#include "llvm/Support/Error.h"

#include <string>

namespace octavo::session {

/// What one infeed takes: NumPy arrays by their paths, separated by commas.
llvm::Expected<program::Feed> readFeed(const std::string& paths);

} // namespace octavo::session
