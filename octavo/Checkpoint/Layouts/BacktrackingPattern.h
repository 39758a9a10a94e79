// Regular expressions with look-around or back references, which RE2 does not take (PCRE2). They
// are matched by backtracking, and come from files that nobody vouches for: their steps are
// counted.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Names of modules have some dozens of bytes; a longer one is held against no expression, of which
/// a step of `.*` takes as long as the name is.
inline constexpr std::size_t kLongestName = 1024;

/// Steps that the patterns which share it may still take, of all names. A usual pattern with
/// look-around takes a few hundred for a name, one of RE2 as many as the name has bytes; two
/// hundred million take some seconds.
struct PatternSteps {
  std::int64_t left = 200'000'000;
};

class BacktrackingPattern {
public:
  /// Error: why the text is no pattern.
  static tl::expected<BacktrackingPattern, std::string>
  compile(std::string_view text, std::shared_ptr<PatternSteps> steps);

  /// Whether a match begins at the name's start, as of Python's re.match. Nothing where that takes
  /// more steps than are left, or more than 16 MB.
  std::optional<bool> matchesStart(std::string_view name) const;

private:
  struct Compiled;
  explicit BacktrackingPattern(std::shared_ptr<const Compiled> compiled)
      : compiled(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled;
};

} // namespace octavo::checkpoint
