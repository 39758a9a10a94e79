// Parses options whose value is one of a few words.
#pragma once

#include "tools/octavo/Commands.h"

#include <cstddef>
#include <string>
#include <vector>

namespace octavo::tools {

/// A word and its value.
template <typename Choice> struct NamedChoice {
  const char* name;
  Choice choice;
};

/// The choice named `name`. Otherwise throws CommandError with all names. `kind` is the kind of
/// choice in the message: "policy".
template <typename Choice, std::size_t n>
Choice choiceNamed(const std::string& kind, const std::string& name,
                   const NamedChoice<Choice> (&choices)[n]) {
  std::vector<std::string> known;
  for (const NamedChoice<Choice>& each : choices) {
    if (name == each.name)
      return each.choice;
    known.emplace_back(each.name);
  }
  throw CommandError(unknownName(kind, name, known), ExitCode::BadUsage);
}

} // namespace octavo::tools
