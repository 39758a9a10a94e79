#include "tools/octavo/Paths.h"

#include "tools/octavo/Commands.h"

#include "octavo/Base/PrintableText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace octavo::tools {

namespace {

namespace fs = std::filesystem;

/// Placeholders of values that are not paths. INT and the like are CLI11's, for numbers.
constexpr std::array kNoPaths = {
    "COMMAND",    "DISTRIBUTION", "DOUBTS", "DTYPE",   "FLOAT",      "FORM",         "FORMAT",
    "FORMAT,...", "FORMAT|none",  "INT",    "LAYOUT",  "N",          "NAME",         "OWNER",
    "PATTERN",    "POLICY",       "PRESET", "RANGE",   "REGEX",      "ROUNDING",     "RULE",
    "SIZE",       "UINT",         "ULP",    "VERSION", "bytes|time", "f32|reference"};

enum class Use : std::uint8_t { Reads, Writes, Neither };

struct Declaration {
  std::string name; ///< of the option: a new option can have the address of a destroyed one
  Use use;
  ReadForm form = ReadForm::Path;
  InputTraits input = {};
  OutputTraits traits = {};
};

/// The declarations of options of the process's only application.
std::map<const CLI::Option*, Declaration>& declarations() {
  static std::map<const CLI::Option*, Declaration> all;
  return all;
}

/// The placeholder without the text that validators append.
std::string placeholderOf(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(':'));
}

bool takesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string nameOf(const CLI::Option& option) {
  return option.nonpositional() ? "--" + (option.get_lnames().empty() ? option.get_snames().front()
                                                                      : option.get_lnames().front())
                                : option.get_name(true);
}

/// The option's declaration; null if it has none.
const Declaration* declarationOf(const CLI::Option& option) {
  const auto found = declarations().find(&option);
  return found != declarations().end() && found->second.name == nameOf(option) ? &found->second
                                                                               : nullptr;
}

std::optional<Use> useOf(const CLI::Option& option) {
  if (const Declaration* declaration = declarationOf(option))
    return declaration->use;
  if (std::ranges::find(kNoPaths, placeholderOf(option)) != kNoPaths.end())
    return Use::Neither;
  return std::nullopt;
}

/// `octavo` and the subcommands down to this one, as a user types them.
std::string commandName(const CLI::App& command) {
  return command.get_parent() ? commandName(*command.get_parent()) + " " + command.get_name()
                              : command.get_name();
}

const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty())
    current = current->get_subcommands().front();
  return *current;
}

template <typename Visit> void forOptions(const CLI::App& app, const Visit& visit) {
  for (const CLI::Option* option : app.get_options())
    if (takesValue(*option))
      visit(app, *option);
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; }))
    forOptions(*subcommand, visit);
}

/// The placeholder in paths for the number of a process (octavo run), and how many numbers are
/// tried.
constexpr std::string_view kProcess = "{process}";
constexpr int kMostProcesses = 1024;

std::vector<std::string> ofProcesses(const std::string& path) {
  std::vector<std::string> paths = {path};
  if (path.find(kProcess) == std::string::npos)
    return paths;
  for (int process = 0; process < kMostProcesses; ++process) {
    std::string each = path;
    for (std::size_t at; (at = each.find(kProcess)) != std::string::npos;)
      each.replace(at, kProcess.size(), std::to_string(process));
    paths.push_back(std::move(each));
  }
  return paths;
}

std::vector<std::string> pathsIn(const std::string& given, ReadForm form) {
  std::error_code none;
  std::vector<std::string> parts = {given};
  const bool isList = form == ReadForm::List || form == ReadForm::NamedList;
  if (isList && !fs::is_directory(given, none)) {
    parts.clear();
    for (std::size_t begin = 0; begin <= given.size();) {
      const std::size_t comma = std::min(given.find(',', begin), given.size());
      parts.push_back(given.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  std::vector<std::string> paths;
  for (std::string& part : parts) {
    if (form == ReadForm::Named || form == ReadForm::NamedList)
      part = part.substr(part.find('=') + 1); // npos + 1 is 0
    std::ranges::move(ofProcesses(part), std::back_inserter(paths));
  }
  return paths;
}

/// The file or folder that a path leads to. For a path that does not exist: the deepest folder that
/// exists, and the rest.
struct Place {
  dev_t device = 0;
  ino_t inode = 0;
  std::string rest; ///< path below that folder; empty if the file exists
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The place of a path; nullopt for devices and pipes, and for a path longer than any file's.
std::optional<Place> placeOf(const fs::path& path) {
  if (path.native().size() > PATH_MAX)
    return std::nullopt;
  fs::path rest;
  fs::path at = path;
  if (!at.has_filename() && at.has_relative_path()) // "folder/"
    at = at.parent_path();
  for (;;) {
    struct stat found{};
    if (::stat(at.empty() ? "." : at.c_str(), &found) == 0) {
      if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
        return std::nullopt;
      return Place{found.st_dev, found.st_ino, rest.lexically_normal().string()};
    }
    if (at.empty() || at == at.root_path())
      return Place{0, 0, rest.string()};
    rest = rest.empty() ? at.filename() : at.filename() / rest;
    at = at.parent_path();
  }
}

struct ReadPath {
  fs::path path;
  std::string reader; ///< "--input"
  std::optional<Place> place;
  InputTraits traits = {};
};

struct PlacedOutput {
  fs::path path;
  std::string writer;
  std::optional<Place> place;
};

struct CommandPaths {
  std::vector<ReadPath> reads;
  std::vector<PlacedOutput> outputs; ///< with the files beside outputs
  std::vector<WrittenPath> written;
};

CommandPaths& ofCommand() {
  static CommandPaths paths;
  return paths;
}

[[noreturn]] void refuseReplaced(const PlacedOutput& output, const ReadPath& read) {
  throw CommandError(
      fmt::format("{}: would overwrite what the command reads ({} {}); choose another file",
                  output.path.string(), read.reader, read.path.string()),
      ExitCode::BadUsage);
}

[[noreturn]] void refuseTwice(const PlacedOutput& output, const PlacedOutput& other) {
  throw CommandError(fmt::format("{}: {} and {} would overwrite one another there; choose another "
                                 "place for one of them",
                                 output.path.string(), output.writer, other.writer),
                     ExitCode::BadUsage);
}

[[noreturn]] void refuseInFolder(const PlacedOutput& output, const ReadPath& folder,
                                 const std::string& name) {
  throw CommandError(fmt::format("{}: is {} of the {} itself, which {} would overwrite; name "
                                 "another file for the output",
                                 output.path.string(), base::inQuotes(name), folder.traits.noun,
                                 output.writer),
                     ExitCode::BadInput);
}

/// The name, relative to `folder`, of the file in it that `place` is; nullopt if there is none.
std::optional<std::string> nameIn(const fs::path& folder, const Place& place) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                      failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end; at.increment(failed))
    if (struct stat found{}; ::stat(at->path().c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
                             place.inode == found.st_ino && place.device == found.st_dev)
      return at->path().lexically_relative(folder).string();
  return std::nullopt;
}

void compare(const PlacedOutput& output, const OutputTraits& traits, const ReadPath& read) {
  if (!output.place || !read.place)
    return;
  std::error_code none;
  if (*output.place == *read.place) {
    if (!traits.comparesFolders || !fs::is_directory(read.path, none))
      refuseReplaced(output, read);
    return;
  }
  if (output.place->rest.empty() && fs::is_regular_file(output.path, none) &&
      fs::is_directory(read.path, none))
    if (const auto name = nameIn(read.path, *output.place);
        name && (!read.traits.readsInFolder || read.traits.readsInFolder(*name)) &&
        !(traits.isEarlierOutput && traits.isEarlierOutput(output.path)))
      refuseInFolder(output, read, *name);
  if (traits.writesInFolder && fs::is_directory(output.path, none)) {
    const auto name = nameIn(output.path, *read.place);
    if (name && traits.writesInFolder(*name))
      refuseReplaced({output.path / *name, output.writer, read.place}, read);
  }
}

/// Whether the folder `output` may write the file `other`.
bool writesInto(const PlacedOutput& output, const OutputTraits& traits, const PlacedOutput& other) {
  if (!traits.writesInFolder || !output.place || !other.place)
    return false;
  return placeOf(other.path.has_parent_path() ? other.path.parent_path() : ".") == output.place &&
         traits.writesInFolder(other.path.filename().string());
}

} // namespace

CLI::Option* readsPath(CLI::Option* option, ReadForm form, InputTraits traits) {
  declarations()[option] = {
      .name = nameOf(*option), .use = Use::Reads, .form = form, .input = std::move(traits)};
  return option;
}

CLI::Option* writesPath(CLI::Option* option, OutputTraits traits) {
  declarations()[option] = {
      .name = nameOf(*option), .use = Use::Writes, .traits = std::move(traits)};
  return option;
}

CLI::Option* takesNoPath(CLI::Option* option) {
  declarations()[option] = {.name = nameOf(*option), .use = Use::Neither};
  return option;
}

bool namesPath(const CLI::Option& option) {
  const std::optional<Use> use = useOf(option);
  return use == Use::Reads || use == Use::Writes;
}

void requireDeclared(const CLI::App& app) {
  forOptions(app, [](const CLI::App& command, const CLI::Option& option) {
    if (!useOf(option))
      throw std::logic_error(fmt::format(
          "{} of {} does not say whether its value is a path that is read, one that is written, or "
          "none: readsPath, writesPath or takesNoPath (tools/octavo/Paths.h)",
          nameOf(option), commandName(command)));
  });
}

void checkPaths(const CLI::App& app) {
  CommandPaths& paths = ofCommand();
  paths = {};
  std::vector<OutputTraits> traits;
  for (const CLI::Option* option : innermost(app).get_options()) {
    const Declaration* declared = declarationOf(*option);
    if (declared == nullptr || option->count() == 0)
      continue;
    const Declaration& declaration = *declared;
    for (const std::string& given : option->results()) {
      if (given.empty())
        continue; // reported elsewhere
      if (declaration.use == Use::Reads)
        for (const std::string& path : pathsIn(given, declaration.form)) {
          auto place = placeOf(path);
          if (place && place->rest.empty()) // only existing files are read
            paths.reads.push_back({path, nameOf(*option), place, declaration.input});
        }
      if (declaration.use != Use::Writes)
        continue;
      for (const std::string& path : ofProcesses(given)) {
        paths.outputs.push_back({path, nameOf(*option), placeOf(path)});
        traits.push_back(declaration.traits);
        for (const std::string& ending : declaration.traits.besides) {
          paths.outputs.push_back({path + ending, nameOf(*option), placeOf(path + ending)});
          traits.emplace_back();
        }
      }
      paths.written.push_back({given, nameOf(*option), declaration.traits});
    }
  }
  std::map<Place, std::size_t> known;
  for (std::size_t i = 0; i < paths.outputs.size(); ++i) {
    const PlacedOutput& output = paths.outputs[i];
    if (!output.place)
      continue;
    if (const auto [other, isNew] = known.try_emplace(*output.place, i); !isNew)
      refuseTwice(output, paths.outputs[other->second]);
    for (const ReadPath& read : paths.reads)
      compare(output, traits[i], read);
    if (traits[i].writesInFolder)
      for (const PlacedOutput& other : paths.outputs)
        if (&other != &output && writesInto(output, traits[i], other))
          refuseTwice(other, output);
  }
}

void alsoReads(const fs::path& path, const std::string& reader) {
  ReadPath read{path, reader, placeOf(path), {}};
  for (const PlacedOutput& output : ofCommand().outputs)
    compare(output, {}, read);
  ofCommand().reads.push_back(std::move(read));
}

void alsoWrites(const fs::path& path, const std::string& writer) {
  const PlacedOutput output{path, writer, placeOf(path)};
  for (const ReadPath& read : ofCommand().reads)
    compare(output, {}, read);
  for (const PlacedOutput& other : ofCommand().outputs)
    if (other.writer != writer && output.place && other.place == output.place)
      refuseTwice(output, other);
}

const std::vector<WrittenPath>& writtenPaths() { return ofCommand().written; }

std::string optionTable(const CLI::App& app) {
  std::string table;
  forOptions(app, [&](const CLI::App& command, const CLI::Option& option) {
    constexpr const char* kUses[] = {"reads", "writes", "neither"};
    const std::optional<Use> use = useOf(option);
    table += fmt::format(
        R"({{"command": "{}", "option": "{}", "positional": {}, "required": {}, "use": "{}"}})"
        "\n",
        commandName(command), nameOf(option), !option.nonpositional(), option.get_required(),
        use ? kUses[static_cast<std::size_t>(*use)] : "undeclared");
  });
  return table;
}

} // namespace octavo::tools
