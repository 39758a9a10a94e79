// `octavo run` of a folder that `octavo compile` has written.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

/// The options of `octavo run` for a compiled folder.
struct FolderRun {
  std::string folder;
  std::vector<std::string> weights, inputs;
  bool ignoresUnused = false;
  std::string output;
  unsigned repeat = 0;
  bool isJson = false;
};

/// Throws CommandError, with advice, if an option was given that needs the program itself. `ofDots`
/// are the options that belong to --quantize.
void refuseOptionsOfPrograms(const CLI::App& command, std::span<const CLI::Option* const> ofDots);

/// Runs the folder; writes and prints the results. Throws CommandError.
void runFolder(const FolderRun& run);

} // namespace octavo::tools
