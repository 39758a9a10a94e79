#include "tools/octavo/program/TuneInputs.h"

#include "tools/octavo/program/InputSets.h"
#include "tools/octavo/program/OrThrow.h"

#include "octavo/Session/Binding/Binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace octavo::tools {

using program::Value;

/// A name for a set that no other set has, because outputs of each set get their own folder.
static std::string freeName(const InputSet& set, const std::vector<std::string>& taken) {
  std::string name = set.name.empty() ? std::to_string(taken.size()) : set.name;
  while (std::ranges::find(taken, name) != taken.end())
    name += fmt::format("-{}", taken.size());
  return name;
}

InputSets bindSets(std::span<const program::Argument> arguments, const TuneInputFlags& flags,
                   const std::string& function) {
  std::vector<std::optional<Value>> bound(arguments.size());
  if (!flags.weights.empty())
    bound = orThrow(session::bindNamed(
        arguments, session::weightsOf(flags.weights, flags.ignoresUnused), function));
  std::vector<program::Argument> open;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!bound[i])
      open.push_back(arguments[i]);

  std::vector<InputSet> sets = inputSets(flags.sets, open);
  if (sets.empty())
    sets.emplace_back();
  InputSets result;
  for (const InputSet& set : sets) {
    session::Sources sources;
    for (const std::string& input : flags.inputs)
      sources.inputs.push_back(inputFile(input));
    std::ranges::copy(set.files, std::back_inserter(sources.inputs));
    std::vector<Value> values = orThrow(session::bindArguments(open, sources, function),
                                        set.label.empty() ? "" : "inputs " + set.label);
    std::vector<Value>& whole = result.values.emplace_back();
    std::size_t next = 0;
    for (const std::optional<Value>& value : bound)
      whole.push_back(value ? *value : std::move(values[next++]));
    result.names.push_back(freeName(set, result.names));
  }
  return result;
}

} // namespace octavo::tools
