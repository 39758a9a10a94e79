// Lists of module names in configurations (ignore, targets, exclude_modules, ...), each matched as
// the producer's readers match it.
#pragma once

#include "octavo/Checkpoint/Finding.h"
#include "octavo/Checkpoint/Layouts/BacktrackingPattern.h"

#include <re2/re2.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace octavo::checkpoint {

enum class PatternStyle : std::uint8_t {
  /// compressed-tensors: the name, `re:` and a regular expression matched from the name's start, or
  /// the class of a module.
  NameClassOrRegex,
  /// ModelOpt, Quark: shell wildcards over the whole name; the name of a parent covers its
  /// children.
  Wildcards,
  /// transformers, vLLM fp8: the name, a parent's name, the end of a name after a dot, or a regular
  /// expression matched from the name's start.
  NameOrRegex,
};

class NamePatterns {
public:
  NamePatterns() = default;
  /// Patterns that cannot be compiled are reported under `key` of the configuration. Expressions
  /// are Python's: RE2 has them, or else PCRE2. These share `steps`, with other lists where it is
  /// given.
  NamePatterns(std::span<const std::string> entries, PatternStyle style, std::string_view key,
               Findings& findings,
               const std::shared_ptr<PatternSteps>& steps = std::make_shared<PatternSteps>());

  /// The index of the first entry that names `module`, which then counts as used.
  std::optional<std::size_t> match(std::string_view module) const;
  /// Whether an entry is the class name `type`, which names no module but all of a kind.
  bool namesClass(std::string_view type) const;

  std::size_t size() const { return entries.size(); }
  /// Entries that have matched no module yet and are no class names.
  std::vector<std::string_view> unused() const;
  /// Entries of which it was not found out whether they name a module, as that took too long: they
  /// name none.
  std::vector<std::string_view> unfinished() const;

private:
  struct Expression {
    std::size_t entry;
    std::unique_ptr<re2::RE2> regex;              ///< null where RE2 does not take it
    std::optional<BacktrackingPattern> otherwise; ///< set there
    bool whole;                                   ///< the whole name, not only its start
  };
  /// Nothing where that cannot be found out.
  static std::optional<bool> matches(const Expression& expression, std::string_view name);
  struct Entry {
    std::string text;
    bool mayBeClass = false;
    bool broken = false;
  };
  PatternStyle style = PatternStyle::NameClassOrRegex;
  std::vector<Entry> entries;
  /// Looked up by views: a module is looked up once for each of its components.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> names;
  std::vector<Expression> expressions;
  mutable std::vector<bool> used, isUnfinished;
};

} // namespace octavo::checkpoint
