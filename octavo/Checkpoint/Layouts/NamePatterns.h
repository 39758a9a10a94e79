// Lists of module names in configurations (ignore, targets, exclude_modules, ...), each matched as
// the producer's readers match it.
#pragma once

#include "octavo/Checkpoint/Finding.h"
#include "octavo/Checkpoint/Layouts/BacktrackingPattern.h"

#include <re2/filtered_re2.h>

#include <functional>
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
  /// The same where entries come from several keys: `keyOf` says which.
  using KeyOf = std::function<std::string(std::size_t entry)>;
  NamePatterns(std::span<const std::string> entries, PatternStyle style, const KeyOf& keyOf,
               Findings& findings,
               const std::shared_ptr<PatternSteps>& steps = std::make_shared<PatternSteps>());

  /// The index of the first entry that names `module`, which then counts as used.
  std::optional<std::size_t> match(std::string_view module) const;
  /// Whether an entry is the class name `type`, which names no module but all of a kind.
  bool namesClass(std::string_view type) const;

  std::size_t size() const { return entries.size(); }
  const std::string& operator[](std::size_t entry) const { return entries[entry].text; }
  /// Entries that have matched no module yet and are no class names.
  std::vector<std::size_t> unused() const;
  /// Entries of which it was not found out whether they name a module, as that took too long: they
  /// name none.
  std::vector<std::size_t> unfinished() const;

private:
  struct Entry {
    std::string text;
    std::size_t first; ///< the entry of the same text that stands for all of them
    bool mayBeClass = false;
    bool broken = false;
  };
  /// Of RE2. Of many, only those are asked whose letters the name has (atoms: pieces of text
  /// without which an expression cannot match).
  struct Filter {
    re2::FilteredRE2 expressions{2};
    std::vector<std::size_t> entries; ///< by expression
    std::unordered_map<std::string_view, std::vector<int>> atoms;
    std::vector<std::string> atomTexts; ///< of `atoms`
    std::vector<std::size_t> atomSizes; ///< that there are
  };
  struct Backtracking {
    std::size_t entry;
    BacktrackingPattern pattern;
  };

  void prepareFilter();
  /// The expressions that may match a name.
  std::vector<int> candidates(std::string_view name) const;

  PatternStyle style = PatternStyle::NameClassOrRegex;
  std::vector<Entry> entries;
  /// Looked up by views: a module is looked up once for each of its components.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  ByName<std::size_t> names;
  std::unique_ptr<Filter> filter; ///< null where there are no expressions of RE2
  std::vector<Backtracking> backtracking;
  std::shared_ptr<PatternSteps> steps;
  mutable std::vector<bool> used, isUnfinished;
  /// What expressions said of a name: modules are asked for once for each of their tensors.
  mutable ByName<std::optional<std::size_t>> known;
};

} // namespace octavo::checkpoint
