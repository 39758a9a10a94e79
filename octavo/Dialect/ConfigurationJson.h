// Parses the configuration of a custom call that is JSON text.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace octavo {

/// The value of `text`. nullopt: the text is not JSON, or nests brackets deeper than 64 levels.
/// LLVM's parser recurses over brackets, so deeper text could exhaust the stack.
inline std::optional<llvm::json::Value> configurationJson(llvm::StringRef text) {
  constexpr unsigned kDeepest = 64;
  unsigned depth = 0;
  bool isQuoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"')
      isQuoted = !isQuoted;
    else if (isQuoted)
      at += c == '\\' ? 1 : 0;
    else if ((c == '[' || c == '{') && ++depth > kDeepest)
      return std::nullopt;
    else if ((c == ']' || c == '}') && depth > 0)
      --depth;
  }
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (json)
    return std::move(*json);
  llvm::consumeError(json.takeError());
  return std::nullopt;
}

} // namespace octavo
