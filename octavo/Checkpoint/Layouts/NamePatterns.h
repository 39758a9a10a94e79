// Matches module names against the lists of configurations (ignore, targets, exclude_modules, ...),
// each as its producer's readers match it.
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

/// How entries of a list are matched.
enum class PatternStyle : std::uint8_t {
  /// compressed-tensors: a name; `re:` and a regular expression, matched from the name's start; or
  /// the class of a module.
  NameClassOrRegex,
  /// ModelOpt, Quark: shell wildcards over the whole name. The name of a parent covers its
  /// children.
  Wildcards,
  /// transformers, vLLM fp8: a name, a parent's name, the end of a name after a dot, or a regular
  /// expression matched from the name's start.
  NameOrRegex,
};

/// A compiled list that records which entries matched. Not for several threads at once.
class NamePatterns {
public:
  NamePatterns() = default;
  /// Compiles the entries. Those that cannot be compiled are reported under `key` of the
  /// configuration. Expressions have Python's syntax; RE2 matches them if it can, else PCRE2. Lists
  /// that are given the same `steps` share that budget.
  NamePatterns(std::span<const std::string> entries, PatternStyle style, std::string_view key,
               Findings& findings,
               const std::shared_ptr<PatternSteps>& steps = std::make_shared<PatternSteps>());
  /// The same for entries from several keys; `keyOf` gives the key of an entry.
  using KeyOf = std::function<std::string(std::size_t entry)>;
  NamePatterns(std::span<const std::string> entries, PatternStyle style, const KeyOf& keyOf,
               Findings& findings,
               const std::shared_ptr<PatternSteps>& steps = std::make_shared<PatternSteps>());

  /// The index of the first entry that matches `module`; nullopt if there is none. All matching
  /// entries count as used.
  std::optional<std::size_t> match(std::string_view module) const;
  /// Whether an entry is the class name `type`, which stands for all modules of a kind.
  bool namesClass(std::string_view type) const;

  std::size_t size() const { return entries.size(); }
  const std::string& operator[](std::size_t entry) const { return entries[entry].text; }
  /// Entries that matched no module so far, except class names.
  std::vector<std::size_t> unused() const;
  /// Entries whose matching was given up, because it took too long; they count as not matching.
  std::vector<std::size_t> unfinished() const;

private:
  struct Entry {
    std::string text;
    std::size_t first; ///< the first entry with the same text, which stands for all of them
    bool mayBeClass = false;
    bool broken = false;
  };
  /// The RE2 expressions. An atom is a piece of text without which an expression cannot match. If
  /// there are many expressions, only those are matched whose atoms occur in the name.
  struct Filter {
    re2::FilteredRE2 expressions{2};
    std::vector<std::size_t> entries; ///< entry of each expression
    std::unordered_map<std::string_view, std::vector<int>> atoms;
    std::vector<std::string> atomTexts; ///< owns the keys of `atoms`
    std::vector<std::size_t> atomSizes; ///< distinct sizes of atoms
  };
  struct Backtracking {
    std::size_t entry;
    BacktrackingPattern pattern;
  };

  void prepareFilter();
  /// The expressions that may match `name`.
  std::vector<int> candidates(std::string_view name) const;

  PatternStyle style = PatternStyle::NameClassOrRegex;
  std::vector<Entry> entries;
  /// Hash for lookups by string_view: a module is looked up once for each of its components.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  ByName<std::size_t> names;
  std::unique_ptr<Filter> filter; ///< null if there are no RE2 expressions
  std::vector<Backtracking> backtracking;
  std::shared_ptr<PatternSteps> steps;
  mutable std::vector<bool> used, isUnfinished;
  /// Results by name: modules are looked up once for each of their tensors.
  mutable ByName<std::optional<std::size_t>> known;
};

} // namespace octavo::checkpoint
