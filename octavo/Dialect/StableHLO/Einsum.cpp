#include "octavo/Dialect/StableHLO/Einsum.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>

namespace octavo::stablehlo {

namespace {

/// The letters of an operand or the result, with "..." replaced by `count` characters. nullopt and
/// `error` if invalid.
std::optional<std::string> spelled(llvm::StringRef text, std::int64_t count, std::string& error) {
  const auto [before, rest] = text.split("...");
  const bool hasEllipsis = text.contains("...");
  std::string letters = before.str();
  if (hasEllipsis) {
    for (std::int64_t i = 0; i < count; ++i)
      letters.push_back(static_cast<char>(kEllipsisFirst + i));
    letters += rest.str();
  }
  if (!llvm::all_of(before, llvm::isAlpha) || !llvm::all_of(rest, llvm::isAlpha)) {
    error = "'" + text.str() + "' must be letters, with '...' at most once";
    return std::nullopt;
  }
  return letters;
}

} // namespace

std::optional<Einsum> parseEinsum(llvm::StringRef config, llvm::ArrayRef<std::int64_t> ranks,
                                  std::string& error) {
  std::string compact;
  llvm::copy_if(config, std::back_inserter(compact), [](char c) { return c != ' '; });
  const auto [inputs, output] = llvm::StringRef(compact).split("->");
  const bool hasOutput = llvm::StringRef(compact).contains("->");
  llvm::SmallVector<llvm::StringRef> parts;
  inputs.split(parts, ',');
  if (parts.size() != ranks.size()) {
    error = "must have " + std::to_string(ranks.size()) + " operand(s), separated by commas";
    return std::nullopt;
  }
  // The number of axes of "..." in each operand: its rank minus its letters.
  std::int64_t most = 0;
  std::vector<std::int64_t> counts;
  for (auto [part, rank] : llvm::zip(parts, ranks)) {
    const bool hasEllipsis = part.contains("...");
    const auto letters = static_cast<std::int64_t>(part.size()) - (hasEllipsis ? 3 : 0);
    if (hasEllipsis ? letters > rank : letters != rank) {
      error =
          "'" + part.str() + "' must have a letter for each of " + std::to_string(rank) + " axes";
      return std::nullopt;
    }
    counts.push_back(hasEllipsis ? rank - letters : 0);
    most = std::max(most, counts.back());
  }
  if (most > 9) {
    error = "'...' must stand for 9 axes at most";
    return std::nullopt;
  }
  Einsum einsum;
  for (auto [part, count] : llvm::zip(parts, counts)) {
    std::optional<std::string> letters = spelled(part, count, error);
    if (!letters)
      return std::nullopt;
    // Ellipses are aligned at their last axes.
    for (char& letter : *letters)
      if (!llvm::isAlpha(letter))
        letter = static_cast<char>(letter + most - count);
    einsum.operands.push_back(*letters);
  }
  std::map<char, int> occurrences;
  for (const std::string& letters : einsum.operands)
    for (char letter : letters)
      ++occurrences[letter];
  if (!hasOutput) {
    for (auto [letter, count] : occurrences)
      if (count == 1 || !llvm::isAlpha(letter))
        einsum.result.push_back(letter);
    return einsum;
  }
  const std::optional<std::string> letters = spelled(output, most, error);
  if (!letters)
    return std::nullopt;
  for (char letter : *letters)
    if (!occurrences.contains(letter) || std::ranges::count(*letters, letter) != 1) {
      error = std::string("the result's axis '") + letter + "' must be one of an operand, once";
      return std::nullopt;
    }
  einsum.result = *letters;
  return einsum;
}

} // namespace octavo::stablehlo
