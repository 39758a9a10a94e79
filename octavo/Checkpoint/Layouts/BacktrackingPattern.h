// Regular expressions with look-around or back references, which RE2 does not support (matched by
// PCRE2). Backtracking can take exponential time and the patterns come from untrusted files, so
// steps are counted and limited.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Longest name that is matched. Names of modules have some dozens of bytes; a step of `.*` takes
/// time proportional to the name.
inline constexpr std::size_t kLongestName = 1024;

/// A budget of steps that several patterns share, over all names. A typical look-around pattern
/// takes a few hundred steps a name; an RE2 pattern counts the bytes of the name. 200 million steps
/// take some seconds.
struct PatternSteps {
  std::int64_t left = 200'000'000; ///< negative: used up
};

/// A compiled pattern.
class BacktrackingPattern {
public:
  /// Compiles `text`. Error: why it is not a valid pattern.
  static tl::expected<BacktrackingPattern, std::string>
  compile(std::string_view text, std::shared_ptr<PatternSteps> steps);

  /// Whether the pattern matches at the name's start, as Python's re.match does. nullopt if that
  /// would take more steps than are left or more than 16 MB, or if the name is too long.
  std::optional<bool> matchesStart(std::string_view name) const;

private:
  struct Compiled;
  explicit BacktrackingPattern(std::shared_ptr<const Compiled> compiled)
      : compiled(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled;
};

} // namespace octavo::checkpoint
