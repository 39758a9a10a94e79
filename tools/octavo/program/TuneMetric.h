// A metric for `octavo tune` that a command of the user computes.
#pragma once

#include "octavo/Session/Trials/FormatTrials.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace octavo::tools {

/// The placeholder in the command for the folder of outputs.
inline constexpr std::string_view kOutputsPlace = "{outputs}";

/// Runs a shell command on the outputs of trials. `{outputs}` in the command is replaced by a
/// folder with the files SET/OUTPUT.npy. The metric is the number in the last line that the command
/// prints.
class MetricCommand {
public:
  /// Creates a folder for the outputs. Throws CommandError if the command lacks `{outputs}` or the
  /// folder cannot be created.
  MetricCommand(std::string command, std::vector<std::string> sets,
                std::vector<std::string> outputs);
  MetricCommand(const MetricCommand&) = delete;
  ~MetricCommand();

  /// Runs the command. If it fails, the error has its stderr; if its last line is not a number, the
  /// error has what it printed.
  llvm::Expected<double> operator()(const session::FormatTrials::Outputs& outputs) const;

private:
  std::string command;
  std::vector<std::string> sets;
  std::vector<std::string> outputNames;
  std::filesystem::path folder;
};

} // namespace octavo::tools
