#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Layouts/ReadingRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace octavo::checkpoint {

namespace {

/// fnmatch as a regular expression.
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

/// `Linear`, `LlamaAttention`: a Python class rather than a module's path.
bool looksLikeClass(std::string_view text) {
  return !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

} // namespace

NamePatterns::NamePatterns(std::span<const std::string> list, PatternStyle how,
                           std::string_view key, Findings& findings,
                           const std::shared_ptr<PatternSteps>& steps)
    : style(how), used(list.size(), false), isUnfinished(list.size(), false) {
  for (const std::string& text : list) {
    const std::size_t index = entries.size();
    Entry& entry = entries.emplace_back(Entry{text});
    entry.mayBeClass = looksLikeClass(text);
    names.emplace(text, index);

    std::optional<std::string> source;
    bool whole = false;
    if (text.starts_with("re:"))
      source = text.substr(3);
    else if (style == PatternStyle::Wildcards && text.find_first_of("*?[") != std::string::npos) {
      source = fromWildcards(text);
      whole = true;
    } else if (style == PatternStyle::NameOrRegex &&
               text.find_first_of("*?[(|^$\\+") != std::string::npos)
      source = text;
    if (!source)
      continue;
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto regex = std::make_unique<re2::RE2>(*source, options);
    if (regex->ok()) {
      expressions.push_back({index, std::move(regex), std::nullopt, whole});
      continue;
    }
    std::string why = regex->error();
    if (!whole) {
      auto otherwise = BacktrackingPattern::compile(*source, steps);
      if (otherwise) {
        expressions.push_back({index, nullptr, std::move(*otherwise), whole});
        continue;
      }
      why = std::move(otherwise.error());
    }
    entry.broken = true;
    findings.push_back(finding("bad-pattern", "config.json", "",
                               fmt::format("{} has {}: {}", key, inQuotes(text), why)));
  }
}

std::optional<bool> NamePatterns::matches(const Expression& expression, std::string_view name) {
  if (!expression.regex)
    return expression.otherwise->matchesStart(name);
  const re2::StringPiece text(name.data(), name.size());
  return re2::RE2::FullMatch(text, *expression.regex) ||
         (!expression.whole &&
          expression.regex->Match(text, 0, text.size(), re2::RE2::ANCHOR_START, nullptr, 0));
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
  takeName(module);
  if (style != PatternStyle::NameClassOrRegex)
    for (std::size_t dot = module.find('.'); dot != std::string_view::npos;
         dot = module.find('.', dot + 1)) {
      takeName(module.substr(0, dot));
      if (style == PatternStyle::NameOrRegex)
        takeName(module.substr(dot + 1));
    }
  for (const Expression& expression : expressions) {
    const std::optional<bool> isMatch = matches(expression, module);
    if (!isMatch)
      isUnfinished[expression.entry] = true;
    else if (*isMatch)
      take(expression.entry);
  }
  return first;
}

bool NamePatterns::namesClass(std::string_view type) const { return names.contains(type); }

std::vector<std::string_view> NamePatterns::unused() const {
  std::vector<std::string_view> result;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!used[i] && !entries[i].mayBeClass && !entries[i].broken && !isUnfinished[i])
      result.push_back(entries[i].text);
  return result;
}

std::vector<std::string_view> NamePatterns::unfinished() const {
  std::vector<std::string_view> result;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (isUnfinished[i])
      result.push_back(entries[i].text);
  return result;
}

} // namespace octavo::checkpoint
