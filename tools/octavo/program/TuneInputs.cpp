#include "tools/octavo/program/TuneInputs.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/program/InputSets.h"
#include "tools/octavo/program/OrThrow.h"

#include "octavo/Runtime/Binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace octavo::tools {

namespace {

namespace fs = std::filesystem;
using execution::Value;

[[noreturn]] void refuse(const fs::path& path, const std::string& problem) {
  throw CommandError(
      fmt::format("{}: {}; --inputs takes a folder with one set of inputs in each "
                  "FILE.safetensors, or in each folder of NAME.npy, an argument each",
                  path.string(), problem),
      ExitCode::BadInput);
}

std::vector<fs::path> entriesIn(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries = shownEntries(folder, failed);
  if (failed)
    refuse(folder, failed.message());
  return entries;
}

InputSet setOf(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    if (path.extension() != ".safetensors")
      refuse(path, path.extension() == ".npy" ? "an array by itself is no set of inputs"
                                              : "it is no set of inputs");
    return {path.stem().string(), {{path}}};
  }
  InputSet set{path.filename().string(), {}};
  for (const fs::path& file : entriesIn(path)) {
    if (file.extension() != ".npy")
      refuse(file, "it is not NAME.npy");
    set.files.push_back({file, file.stem().string()});
  }
  if (set.files.empty())
    refuse(path, "it has no NAME.npy");
  return set;
}

std::vector<InputSet> setsOf(const TuneInputFlags& flags) {
  std::vector<InputSet> sets;
  for (const fs::path folder : flags.folders) {
    const std::vector<fs::path> entries = entriesIn(folder);
    if (entries.empty())
      refuse(folder, "it is empty");
    for (const fs::path& entry : entries)
      sets.push_back(setOf(entry));
  }
  if (sets.empty())
    sets.push_back({"0", {}});
  return sets;
}

} // namespace

InputSets bindSets(std::span<const runtime::Argument> arguments, const TuneInputFlags& flags,
                   const std::string& function) {
  std::vector<std::optional<Value>> bound(arguments.size());
  if (!flags.weights.empty())
    bound = orThrow(runtime::bindNamed(
        arguments, runtime::weightsOf(flags.weights, flags.ignoresUnused), function));
  std::vector<runtime::Argument> open;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!bound[i])
      open.push_back(arguments[i]);

  InputSets result;
  for (const InputSet& set : setsOf(flags)) {
    runtime::Sources sources;
    for (const std::string& input : flags.inputs)
      sources.inputs.push_back(inputFile(input));
    std::ranges::copy(set.files, std::back_inserter(sources.inputs));
    std::vector<Value> values = orThrow(runtime::bindArguments(open, sources, function));
    std::vector<Value>& whole = result.values.emplace_back();
    std::size_t next = 0;
    for (const std::optional<Value>& value : bound)
      whole.push_back(value ? *value : std::move(values[next++]));
    result.names.push_back(set.label);
  }
  return result;
}

} // namespace octavo::tools
