// The notation of einsum: letters for the axes of operands and result.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace octavo::stablehlo {

/// "bij,bjk->bik": a letter an axis. A letter that the result lacks is summed over; one that an
/// operand has twice takes the diagonal. "..." stands for the axes that no letter names; they are
/// spelled here by characters from kEllipsisFirst on, aligned at the last.
struct Einsum {
  std::vector<std::string> operands;
  std::string result;
};

inline constexpr char kEllipsisFirst = '0';

/// Reads the notation for operands of these ranks. Without an arrow the result has the letters that
/// occur once, in alphabetical order, behind the ellipsis. On an error `error` says what is wrong.
std::optional<Einsum> parseEinsum(llvm::StringRef config, llvm::ArrayRef<std::int64_t> ranks,
                                  std::string& error);

} // namespace octavo::stablehlo
