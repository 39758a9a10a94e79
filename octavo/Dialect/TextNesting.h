// Finds nesting that would exhaust the stack of MLIR's parser, from the text alone. The text is cut
// into tokens as MLIR's lexer does it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>
#include <string>

namespace octavo {

/// The limits of tooDeepIn.
struct NestingLimits {
  unsigned levels; ///< most open brackets, operators in one expression, and brackets with aliases
                   ///< expanded
  bool areKindsApart = false; ///< count each kind of bracket separately
};

/// The place that exceeds a limit, and the error message.
struct TooDeep {
  std::size_t at;   ///< offset into the text, in bytes
  std::string what; ///< "nests deeper than 1000 levels of '['"
};

/// The first place where a text in MLIR's syntax exceeds the limits, nullopt if there is none. It
/// is one of:
/// - a bracket that is too deep;
/// - an operator of an affine expression that has too many;
/// - an alias of an attribute or type that is too deep or too large when the aliases in it are
///   expanded;
/// - a comment with brackets or quotes inside an attribute or type of a dialect, which MLIR reads
///   in two ways.
std::optional<TooDeep> tooDeepIn(llvm::StringRef text, const NestingLimits& limits);

/// The offset of the quote that closes the string opened at `at`. Without a closing quote: the end
/// of the line (MLIR's strings do not span lines) or of the text.
std::size_t endOfString(llvm::StringRef text, std::size_t at);

} // namespace octavo
