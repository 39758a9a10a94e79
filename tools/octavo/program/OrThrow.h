// Converts llvm::Expected to a value or a CommandError.
#pragma once

#include "tools/octavo/Commands.h"

#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace octavo::tools {

/// The value of `value`. If it is an error: throws CommandError (bad input), with `where` before
/// the message.
template <typename T> T orThrow(llvm::Expected<T> value, const std::string& where = "") {
  if (value)
    return std::move(*value);
  throw CommandError((where.empty() ? "" : where + ": ") + llvm::toString(value.takeError()),
                     ExitCode::BadInput);
}

} // namespace octavo::tools
