// An llvm::Error that consists of a message.
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace octavo::session {

inline llvm::Error failure(const std::string& message) {
  return llvm::createStringError(llvm::Twine(message));
}

} // namespace octavo::session
