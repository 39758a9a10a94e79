#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/FindingRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace octavo::checkpoint {

namespace {

/// Translates fnmatch wildcards to a regular expression.
std::string fromWildcards(std::string_view text) {
  std::string regex = "(?s)";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::size_t close = c == '[' ? text.find(']', i + 2) : std::string_view::npos;
    if (c == '*')
      regex += ".*";
    else if (c == '?')
      regex += '.';
    else if (close != std::string_view::npos) {
      std::string set(text.substr(i + 1, close - i - 1));
      if (set.front() == '!')
        set.front() = '^';
      regex += '[' + set + ']';
      i = close;
    } else
      regex += re2::RE2::QuoteMeta(re2::StringPiece(&c, 1));
  }
  return regex;
}

/// Whether the text is a Python class (`Linear`, `LlamaAttention`) and not a module's path.
bool looksLikeClass(std::string_view text) {
  return !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// Up to this many expressions are matched one by one.
constexpr int kFewExpressions = 16;

bool isAscii(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
}

} // namespace

NamePatterns::NamePatterns(std::span<const std::string> list, PatternStyle how,
                           std::string_view key, Findings& findings,
                           const std::shared_ptr<PatternSteps>& steps)
    : NamePatterns(list, how, [&](std::size_t) { return std::string(key); }, findings, steps) {}

NamePatterns::NamePatterns(std::span<const std::string> list, PatternStyle how, const KeyOf& keyOf,
                           Findings& findings, const std::shared_ptr<PatternSteps>& shared)
    : style(how), steps(shared), used(list.size(), false), isUnfinished(list.size(), false) {
  for (const std::string& text : list) {
    const std::size_t index = entries.size();
    const auto [known, isNew] = names.emplace(text, index);
    Entry& entry = entries.emplace_back(Entry{text, known->second});
    entry.mayBeClass = looksLikeClass(text);
    if (!isNew)
      continue;

    std::optional<std::string> source;
    bool whole = false;
    if (text.starts_with("re:"))
      source = text.substr(3);
    else if (style == PatternStyle::Wildcards && text.find_first_of("*?[") != std::string::npos) {
      source = fromWildcards(text) + "\\z";
      whole = true;
    } else if (style == PatternStyle::NameOrRegex &&
               text.find_first_of("*?[(|^$\\+") != std::string::npos)
      source = text;
    if (!source)
      continue;
    re2::RE2::Options options;
    options.set_log_errors(false);
    if (!filter)
      filter = std::make_unique<Filter>();
    if (int id; filter->expressions.Add(*source, options, &id) == re2::RE2::NoError) {
      filter->entries.push_back(index);
      continue;
    }
    std::string why = re2::RE2(*source, options).error();
    if (!whole) {
      auto otherwise = BacktrackingPattern::compile(*source, steps);
      if (otherwise) {
        backtracking.push_back({index, std::move(*otherwise)});
        continue;
      }
      why = std::move(otherwise.error());
    }
    entry.broken = true;
    findings.push_back(finding("bad-pattern", "config.json", "",
                               fmt::format("{} has {}: {}", keyOf(index), inQuotes(text), why)));
  }
  prepareFilter();
}

void NamePatterns::prepareFilter() {
  if (!filter || filter->entries.empty()) {
    filter.reset();
    return;
  }
  filter->expressions.Compile(&filter->atomTexts);
  for (std::size_t i = 0; i < filter->atomTexts.size(); ++i) {
    const std::string& atom = filter->atomTexts[i];
    filter->atoms[atom].push_back(static_cast<int>(i));
    if (std::ranges::find(filter->atomSizes, atom.size()) == filter->atomSizes.end())
      filter->atomSizes.push_back(atom.size());
  }
}

std::vector<int> NamePatterns::candidates(std::string_view name) const {
  std::vector<int> found;
  // Atoms are lower case in Unicode's sense, so names that are not ASCII are matched with all
  // expressions.
  if (filter->expressions.NumRegexps() <= kFewExpressions || !isAscii(name)) {
    found.resize(filter->entries.size());
    std::iota(found.begin(), found.end(), 0);
    return found;
  }
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<int> atoms;
  for (std::size_t begin = 0; begin < lower.size(); ++begin)
    for (const std::size_t size : filter->atomSizes)
      if (size <= lower.size() - begin)
        if (const auto atom = filter->atoms.find(std::string_view(lower).substr(begin, size));
            atom != filter->atoms.end())
          atoms.insert(atoms.end(), atom->second.begin(), atom->second.end());
  std::ranges::sort(atoms);
  const auto repeated = std::ranges::unique(atoms);
  atoms.erase(repeated.begin(), repeated.end());
  filter->expressions.AllPotentials(atoms, &found);
  return found;
}

std::optional<std::size_t> NamePatterns::match(std::string_view module) const {
  std::optional<std::size_t> first;
  const auto take = [&](std::size_t index) {
    used[index] = true;
    first = std::min(first.value_or(index), index);
  };
  const auto takeName = [&](std::string_view name) {
    if (const auto found = names.find(name); found != names.end())
      take(found->second);
  };
  if (const auto asked = known.find(module); asked != known.end())
    return asked->second;
  takeName(module);
  if (style != PatternStyle::NameClassOrRegex)
    for (std::size_t dot = module.find('.'); dot != std::string_view::npos;
         dot = module.find('.', dot + 1)) {
      takeName(module.substr(0, dot));
      if (style == PatternStyle::NameOrRegex)
        takeName(module.substr(dot + 1));
    }
  if (filter) {
    const re2::StringPiece text(module.data(), module.size());
    for (const int id : candidates(module)) {
      const std::size_t entry = filter->entries[static_cast<std::size_t>(id)];
      steps->left -= static_cast<std::int64_t>(module.size());
      if (steps->left < 0 || module.size() > kLongestName)
        isUnfinished[entry] = true;
      else if (filter->expressions.GetRE2(id).Match(text, 0, text.size(), re2::RE2::ANCHOR_START,
                                                    nullptr, 0))
        take(entry);
    }
  }
  for (const auto& [entry, pattern] : backtracking) {
    const std::optional<bool> isMatch = pattern.matchesStart(module);
    if (!isMatch)
      isUnfinished[entry] = true;
    else if (*isMatch)
      take(entry);
  }
  known.emplace(module, first);
  return first;
}

bool NamePatterns::namesClass(std::string_view type) const { return names.contains(type); }

std::vector<std::size_t> NamePatterns::unused() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (const std::size_t first = entries[i].first;
        !used[first] && !entries[i].mayBeClass && !entries[first].broken && !isUnfinished[first])
      result.push_back(i);
  return result;
}

std::vector<std::size_t> NamePatterns::unfinished() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (isUnfinished[entries[i].first])
      result.push_back(i);
  return result;
}

} // namespace octavo::checkpoint
