// Shared by the subcommands that write a checkpoint: options for input, output and memory, the run,
// and its report.
#pragma once

#include "tools/octavo/Commands.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"

#include "octavo/Checkpoint/Jobs/Rewrite.h"

#include <string>
#include <vector>

namespace octavo::tools {

/// The values of the options.
struct RewriteFlags {
  std::string input;
  std::string output;
  WorkFlags work;
  bool isDryRun = false;
  bool isJson = false;
};

/// Adds DIR, -o, --memory, --threads, --dry-run and --json.
void addRewriteFlags(CLI::App& command, RewriteFlags& flags);

/// Adds --allow, for subcommands that read quantized values.
void addAllowFlag(CLI::App& command, std::vector<std::string>& names);
/// The doubts named `names`. Throws CommandError.
checkpoint::Doubts doubtsNamed(const std::vector<std::string>& names);

/// What determines the output besides the input: the subcommand and its own options. It is compared
/// with that of an interrupted run.
checkpoint::Json jobOptions(const std::string& subcommand, checkpoint::Json options);

/// Does the rewrite or, with --dry-run, prints its plan; then prints the summary. `what` is shown
/// while it runs: "quantizing". Throws CommandError, also if `planned` is an error.
void runRewrite(tl::expected<checkpoint::Rewrite, checkpoint::Error> planned,
                const RewriteFlags& flags, const std::string& what);

} // namespace octavo::tools
