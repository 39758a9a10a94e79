// Checks the paths that a command reads and writes. A command never overwrites a file that it
// reads, and never writes two outputs to one path.
//
// Every option that takes text is declared as a path that is read, a path that is written, or not a
// path. requireDeclared refuses an application with an undeclared option, so a new option cannot be
// forgotten. checkPaths then compares all paths of a command line before the command begins. Other
// paths, such as the calibration in a recipe or the files of an output folder, are checked by
// alsoReads and alsoWrites as soon as they are known.
//
// Two paths are the same if they lead to one file or folder: device and inode are equal, so
// spellings, symbolic links and hard links do not matter. Paths of files that do not exist yet are
// the same if their folder and their name in it are. Devices and pipes are not compared.
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

/// How the text of an option names paths that are read.
enum class ReadForm : std::uint8_t {
  Path,      ///< one path; if the file does not exist, nothing is read
  Named,     ///< PATH or NAME=PATH
  List,      ///< PATH[,PATH]...
  NamedList, ///< a folder, or [NAME=]PATH[,[NAME=]PATH]...
};

/// Properties of an output that are known before it is written.
struct OutputTraits {
  /// Suffixes of files that are written beside it, as in RECIPE.json.state.
  std::vector<std::string> besides = {};
  /// For an output folder: whether the command may write a file of this name directly in it. Empty:
  /// the command reports its files by alsoWrites, or the writer compares them.
  std::function<bool(std::string_view name)> writesInFolder = {};
  /// The writer itself compares the folder with the input (JobFolder), so checkPaths does not.
  bool comparesFolders = false;
  /// Whether the file is an output of an earlier run, which may be replaced even in a folder that
  /// is read.
  std::function<bool(const std::filesystem::path& file)> isEarlierOutput = {};
};

/// Properties of an input folder.
struct InputTraits {
  std::string noun = "checkpoint"; ///< the kind of folder, in messages
  /// Whether the command reads a file of this name, relative to the folder. Empty: it reads every
  /// file.
  std::function<bool(std::string_view name)> readsInFolder = {};
};

/// Declares that the option's values are paths that the command reads: files, or folders with their
/// contents.
CLI::Option* readsPath(CLI::Option* option, ReadForm form = ReadForm::Path,
                       InputTraits traits = {});
/// Declares that the option's value is a path that the command writes.
CLI::Option* writesPath(CLI::Option* option, OutputTraits traits = {});
/// Declares that the option's values are not paths. Options with a placeholder in the table of
/// Paths.cpp need no declaration.
CLI::Option* takesNoPath(CLI::Option* option);

/// Whether the option was declared to read or write paths.
bool namesPath(const CLI::Option& option);

/// Throws std::logic_error, with the option's name, if an option of `app` or of its subcommands
/// takes text and is not declared.
void requireDeclared(const CLI::App& app);

/// Throws CommandError if the innermost subcommand would write a path that it reads, or write a
/// path twice. Remembers the paths for the functions below.
void checkPaths(const CLI::App& app);

/// Throws CommandError if `path` is written. `reader` tells the user where `path` is named.
void alsoReads(const std::filesystem::path& path, const std::string& reader);
/// Throws CommandError if `path` is read, or written by another option. `writer` is the option that
/// `path` belongs to.
void alsoWrites(const std::filesystem::path& path, const std::string& writer);

/// An output that the command line names.
struct WrittenPath {
  std::filesystem::path path;
  std::string option; ///< "--output"
  OutputTraits traits;
};
/// The written paths of the command line, as of checkPaths.
const std::vector<WrittenPath>& writtenPaths();

/// All options that take a value, one line of JSON each: command, option, use (reads, writes,
/// neither), and whether it is required. For tests that cover all of them.
std::string optionTable(const CLI::App& app);

} // namespace octavo::tools
