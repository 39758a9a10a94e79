// What the subcommands that write a checkpoint share: where from and where to, how much memory, the
// run itself, and what is said of it.
#pragma once

#include "tools/octavo/Commands.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"

#include "octavo/Checkpoint/Jobs/Rewrite.h"

#include <string>
#include <vector>

namespace octavo::tools {

struct RewriteFlags {
  std::string input;
  std::string output;
  WorkFlags work;
  bool isDryRun = false;
  bool isJson = false;
};

/// DIR, -o, --memory, --threads, --dry-run, --json.
void addRewriteFlags(CLI::App& command, RewriteFlags& flags);

/// --allow, of subcommands that read quantized values.
void addAllowFlag(CLI::App& command, std::vector<std::string>& names);
/// The doubts of these names. Throws CommandError.
checkpoint::Doubts doubtsNamed(const std::vector<std::string>& names);

/// What decides the output besides the input: the subcommand and its own options, for the
/// comparison with an interrupted run.
checkpoint::Json jobOptions(const std::string& subcommand, checkpoint::Json options);

/// Does the rewrite, or prints its plan; then prints the summary. `what` is shown while it runs:
/// "quantizing". Throws CommandError, of what could not be planned, too.
void runRewrite(tl::expected<checkpoint::Rewrite, checkpoint::Error> planned,
                const RewriteFlags& flags, const std::string& what);

} // namespace octavo::tools
