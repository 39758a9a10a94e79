#include "tools/octavo/program/InputSets.h"

#include "tools/octavo/Commands.h"

#include "octavo/Base/NaturalOrder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace octavo::tools {

namespace {

namespace fs = std::filesystem;

bool isInput(const fs::path& path) {
  return path.extension() == ".npy" || path.extension() == ".safetensors";
}

/// The entries of a folder without hidden names, in natural order.
std::vector<fs::path> entriesOf(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (!at->path().filename().string().starts_with('.'))
      entries.push_back(at->path());
  if (failed)
    throw CommandError(fmt::format("{}: {}", folder.string(), failed.message()),
                       ExitCode::BadInput);
  std::ranges::sort(entries, [](const fs::path& a, const fs::path& b) {
    return base::precedesNaturally(a.filename().string(), b.filename().string());
  });
  return entries;
}

class SetReader {
public:
  explicit SetReader(std::span<const program::Argument> arguments) : arguments(arguments) {}

  void addFolder(const fs::path& folder) {
    const std::vector<fs::path> entries = entriesOf(folder);
    if (std::ranges::any_of(entries, [&](const fs::path& entry) { return isNamed(entry); })) {
      addOne(folder, entries);
      return;
    }
    const std::size_t before = sets.size();
    for (const fs::path& entry : entries) {
      if (fs::is_directory(entry))
        addOne(entry, entriesOf(entry));
      else if (isInput(entry))
        sets.push_back({entry.string(), entry.stem().string(), {{entry}}});
      else
        refuse(entry);
    }
    if (sets.size() == before)
      throw CommandError(fmt::format("{}: it has no inputs: a set is a file NAME.safetensors, a "
                                     ".npy file, or a folder of them",
                                     folder.string()),
                         ExitCode::BadInput);
  }

  void addFiles(const std::string& given) {
    InputSet set{given, "", {}};
    for (std::size_t begin = 0; begin <= given.size();) {
      const std::size_t comma = std::min(given.find(',', begin), given.size());
      set.files.push_back(inputFile(given.substr(begin, comma - begin)));
      begin = comma + 1;
    }
    if (set.files.size() == 1)
      set.name = set.files.front().path.stem().string();
    sets.push_back(std::move(set));
  }

  std::vector<InputSet> sets;

private:
  /// Whether the file is an array named for an argument.
  bool isNamed(const fs::path& path) const {
    return path.extension() == ".npy" &&
           std::ranges::any_of(arguments, [&](const program::Argument& argument) {
             return argument.name == path.stem().string();
           });
  }

  [[noreturn]] static void refuse(const fs::path& path) {
    throw CommandError(fmt::format("{}: cannot tell what it is among inputs: expected a name that "
                                   "ends in .npy or .safetensors",
                                   path.string()),
                       ExitCode::BadInput);
  }

  /// Adds a folder that is one set: arrays named for their arguments, and files of named tensors.
  void addOne(const fs::path& folder, const std::vector<fs::path>& entries) {
    const fs::path& named = folder.has_filename() ? folder : folder.parent_path();
    InputSet set{folder.string(), named.filename().string(), {}};
    for (const fs::path& entry : entries) {
      if (!isInput(entry))
        refuse(entry);
      if (entry.extension() == ".npy")
        set.files.push_back({entry, entry.stem().string()});
      else
        set.files.push_back({entry});
    }
    if (set.files.empty())
      throw CommandError(fmt::format("{}: it has no inputs", folder.string()), ExitCode::BadInput);
    sets.push_back(std::move(set));
  }

  std::span<const program::Argument> arguments;
};

} // namespace

session::InputFile inputFile(const std::string& given) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos)
    return {given};
  return {given.substr(equals + 1), given.substr(0, equals)};
}

std::vector<InputSet> inputSets(const std::vector<std::string>& given,
                                std::span<const program::Argument> arguments) {
  SetReader reader(arguments);
  for (const std::string& each : given) {
    if (fs::is_directory(each))
      reader.addFolder(each);
    else
      reader.addFiles(each);
  }
  return std::move(reader.sets);
}

} // namespace octavo::tools
