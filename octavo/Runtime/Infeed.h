// Files for what a program's infeeds take.
#pragma once

#include "octavo/Execution/Host.h"

#include "llvm/Support/Error.h"

#include <string>

namespace octavo::runtime {

/// What one infeed takes: NumPy arrays by their paths, separated by commas.
llvm::Expected<execution::Feed> readFeed(const std::string& paths);

} // namespace octavo::runtime
