// Converts the errors of octavo/Program, which does not use LLVM, to llvm::Error and
// llvm::Expected, and back. Only the message is kept.
#pragma once

#include "llvm/Support/Error.h"

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace octavo {

/// To llvm::Error.
inline llvm::Error llvmError(const tl::expected<void, std::string>& outcome) {
  return outcome ? llvm::Error::success() : llvm::createStringError(llvm::Twine(outcome.error()));
}

/// To llvm::Expected.
template <typename T> llvm::Expected<T> llvmExpected(tl::expected<T, std::string> value) {
  if (!value)
    return llvm::createStringError(llvm::Twine(value.error()));
  return std::move(*value);
}

/// From llvm::Error.
inline tl::expected<void, std::string> outcomeOf(llvm::Error error) {
  if (error)
    return tl::unexpected(llvm::toString(std::move(error)));
  return {};
}

/// From llvm::Expected.
/// Unlike an llvm::Expected, the result need not be checked.
template <typename T> tl::expected<T, std::string> expectedOf(llvm::Expected<T> value) {
  if (!value)
    return tl::unexpected(llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace octavo
