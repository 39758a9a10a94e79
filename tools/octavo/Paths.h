// The paths that a command reads and those that it writes. A command never writes over a file that
// it reads, nor two outputs to one path.
//
// Every option that takes text is declared as one of three: a path that is read, a path that is
// written, no path. requireDeclared refuses an application with an option that is none of these,
// so a new option cannot be forgotten; checkPaths then compares all of a command line at once,
// before the command begins. What the command line does not name (the calibration in a recipe, the
// files of an output folder) is checked where it becomes known, by alsoReads and alsoWrites.
//
// Two paths are the same if they lead to one file or folder: by its device and inode, so that
// spellings and links, hard ones too, do not matter. Paths of files that do not exist yet are the
// same if the name in the folder is. Devices and pipes are not compared.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

/// How the text of an option names the paths that are read.
enum class ReadForm : std::uint8_t {
  Path,      ///< one path; where no file of that name exists, nothing is read
  Named,     ///< PATH or NAME=PATH
  List,      ///< PATH[,PATH]...
  NamedList, ///< a folder, or [NAME=]PATH[,[NAME=]PATH]...
};

/// What is known of an output before it is written.
struct OutputTraits {
  /// Endings of files that are written beside it, as in RECIPE.json.state.
  std::vector<std::string> besides = {};
  /// Of an output that is a folder: whether a file of this name, directly in it, may be written.
  /// Empty: the command reports its files by alsoWrites, or their writer compares them.
  std::function<bool(std::string_view name)> writesInFolder = {};
  /// The writer compares the folder with the input itself, as of every caller (JobFolder).
  bool comparesFolders = false;
  /// Whether the file is an output of an earlier run, which may be replaced in a folder that is
  /// read too.
  std::function<bool(const std::filesystem::path& file)> isEarlierOutput = {};
};

/// What is read of a folder.
struct InputTraits {
  std::string noun = "checkpoint"; ///< what the folder is, in messages
  /// Whether a file of this name, relative to the folder, is read. Empty: every file is.
  std::function<bool(std::string_view name)> readsInFolder = {};
};

/// The option's values are paths that the command reads: files, or folders with what is in them.
CLI::Option* readsPath(CLI::Option* option, ReadForm form = ReadForm::Path,
                       InputTraits traits = {});
/// The option's value is a path that the command writes.
CLI::Option* writesPath(CLI::Option* option, OutputTraits traits = {});
/// The option's values are text that names no path. Options whose placeholder is in the table of
/// Paths.cpp need no declaration.
CLI::Option* takesNoPath(CLI::Option* option);

/// Whether the option's values are paths, read or written.
bool namesPath(const CLI::Option& option);

/// Throws std::logic_error, with the option's name, for an option of `app` or of its subcommands
/// that takes text and is not declared.
void requireDeclared(const CLI::App& app);

/// Throws CommandError if what was given to the innermost subcommand writes a path that it reads,
/// or writes one path twice. Remembers the paths for the functions below.
void checkPaths(const CLI::App& app);

/// Throws CommandError if `path`, which `reader` says where it is named, is one that is written.
void alsoReads(const std::filesystem::path& path, const std::string& reader);
/// Throws CommandError if `path` is one that is read, or that another option writes. `writer` is
/// the option that it belongs to.
void alsoWrites(const std::filesystem::path& path, const std::string& writer);

struct WrittenPath {
  std::filesystem::path path;
  std::string option; ///< "--output"
  OutputTraits traits;
};
/// Those of the command line that checkPaths was given.
const std::vector<WrittenPath>& writtenPaths();

/// Every option that takes a value, a line of JSON each: command, option, use (reads, writes,
/// neither), and whether it must be given. For tests that go over all of them.
std::string optionTable(const CLI::App& app);

} // namespace octavo::tools
