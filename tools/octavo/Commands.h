// The subcommands of `octavo`. Each has one file and one function, which adds the subcommand, its
// options and its callback to the application.
//
// A callback that cannot do its work throws CommandError. main then prints "octavo: error: " and
// the message to stderr, and exits with the code. Results go to stdout, everything else to stderr.
#pragma once

#include <CLI/CLI.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

/// The exit codes of all subcommands.
enum class ExitCode : int {
  Success = 0,
  CheckFailed = 1,   ///< the command worked and the answer is no: a check failed, ...
  BadUsage = 2,      ///< the command line: unknown option or subcommand, unknown format name, ...
  BadInput = 3,      ///< a file, a program, weights or inputs
  Interrupted = 130, ///< by a signal, at a point from which the work can be resumed
};

/// The error of a subcommand. The message has no "error:" and no final newline. It says what is
/// wrong and where, what was expected and found, and what to do.
class CommandError : public std::runtime_error {
public:
  CommandError(const std::string& message, ExitCode exitCode)
      : std::runtime_error(message), code(exitCode) {}
  ExitCode exitCode() const { return code; }

private:
  ExitCode code;
};

/// Prints a result to stdout. Control characters, which can come from files, are escaped
/// (PrintableText.h).
void printText(std::string_view text);

/// The error message for an unknown name: `no KIND "NAME"`, then similar names, and all valid names
/// if there are at most 40.
std::string unknownName(const std::string& kind, const std::string& name,
                        const std::vector<std::string>& known);

void addAnalyzeCommand(CLI::App& app);
void addCheckpointCommand(CLI::App& app);
void addCompletionCommand(CLI::App& app);
void addFormatsCommand(CLI::App& app);
void addHelpCommand(CLI::App& app);
void addPresetsCommand(CLI::App& app);
void addVectorsCommand(CLI::App& app);
// Defined in program/, only in builds with MLIR.
void addCalibrateCommand(CLI::App& app);
void addCompileCommand(CLI::App& app);
void addConvertProgramCommand(CLI::App& app);
void addExplainCommand(CLI::App& app);
void addQuantizeCommand(CLI::App& app);
void addRunCommand(CLI::App& app);
void addTuneCommand(CLI::App& app);
void addVerifyProgramCommand(CLI::App& app);

} // namespace octavo::tools
