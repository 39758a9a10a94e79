// Errors of the libraries below MLIR's line as those of a command.
#pragma once

#include "tools/octavo/Commands.h"

#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace octavo::tools {

/// The value; throws CommandError (bad input) where there is none, with `where` before the message.
template <typename T> T orThrow(llvm::Expected<T> value, const std::string& where = "") {
  if (value)
    return std::move(*value);
  throw CommandError((where.empty() ? "" : where + ": ") + llvm::toString(value.takeError()),
                     ExitCode::BadInput);
}

} // namespace octavo::tools
