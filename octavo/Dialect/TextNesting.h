// What MLIR's parser would go too deep into: nesting that exhausts its stack, measured on the text
// alone. The text is cut into tokens as MLIR's lexer cuts it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>
#include <string>

namespace octavo {

struct NestingLimits {
  unsigned levels;            ///< of brackets, operators in one expression, aliases in one another
  bool areKindsApart = false; ///< the levels are those of each kind of bracket
};

struct TooDeep {
  std::size_t at;   ///< place in the text
  std::string what; ///< "nests deeper than 1000 levels of '['"
};

/// The first place where a text in MLIR's syntax nests deeper than the limits: in brackets, in the
/// operators of an affine expression, in aliases of attributes and types that stand for one
/// another, or where a comment hides which of two readings is MLIR's. Nothing where there is none.
std::optional<TooDeep> tooDeepIn(llvm::StringRef text, const NestingLimits& limits);

/// The end of a string that opens at `at`: MLIR's strings do not go over the ends of lines.
std::size_t endOfString(llvm::StringRef text, std::size_t at);

} // namespace octavo
