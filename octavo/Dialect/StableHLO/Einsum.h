// Parses the notation of einsum: letters for the axes of operands and result.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace octavo::stablehlo {

/// "bij,bjk->bik": one letter for each axis. A letter that the result lacks is summed over; a
/// letter that an operand has twice takes the diagonal. The axes of "..." are spelled here as the
/// characters from kEllipsisFirst on, aligned at the last axis.
struct Einsum {
  std::vector<std::string> operands;
  std::string result;
};

/// The character for the first axis of an ellipsis; the next characters follow.
inline constexpr char kEllipsisFirst = '0';

/// Parses `config` for operands of these ranks. Without an arrow, the result has the axes of the
/// ellipsis, then the letters that occur once, in alphabetical order. Returns nullopt and sets
/// `error` if `config` is invalid.
std::optional<Einsum> parseEinsum(llvm::StringRef config, llvm::ArrayRef<std::int64_t> ranks,
                                  std::string& error);

} // namespace octavo::stablehlo
