// A metric that a command of the user's computes.
#pragma once

#include "octavo/Session/Trials/FormatTrials.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace octavo::tools {

/// Where the command finds the outputs.
inline constexpr std::string_view kOutputsPlace = "{outputs}";

/// Runs a command of the shell on outputs that it finds as files: `{outputs}` in it is a folder
/// that has SET/OUTPUT.npy. The number is the last line that it prints.
class MetricCommand {
public:
  /// Makes a folder for the outputs. Throws CommandError: a command without `{outputs}`; the file
  /// system's.
  MetricCommand(std::string command, std::vector<std::string> sets,
                std::vector<std::string> outputs);
  MetricCommand(const MetricCommand&) = delete;
  ~MetricCommand();

  /// The error has what the command wrote to stderr where it failed, and what it printed where that
  /// is no number.
  llvm::Expected<double> operator()(const session::FormatTrials::Outputs& outputs) const;

private:
  std::string command;
  std::vector<std::string> sets;
  std::vector<std::string> outputNames;
  std::filesystem::path folder;
};

} // namespace octavo::tools
