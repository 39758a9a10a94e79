// The help of `octavo`: groups of subcommands, lines of at most 100 columns, `octavo help COMMAND`,
// and messages for missing options.
#pragma once

#include "tools/octavo/Commands.h"

#include <string>
#include <vector>

namespace octavo::tools {

/// `octavo` and the subcommands down to `command`, as a user types them.
std::string typedName(const CLI::App& command);

/// The name of an option in messages: "--output", or "DIR" for an argument without dashes.
std::string optionName(const CLI::Option& option);

/// Wraps the help of `app` and of its subcommands at 100 columns. To be called before they are
/// added.
void wrapHelp(CLI::App& app);

/// Declares that `command` needs one of `options`. CLI11 cannot report that together with its
/// required options, so the command's callback checks it, and missingOptions names them together.
void needsOneOf(const CLI::App& command, std::vector<const CLI::Option*> options);

/// The required options of `command` that were not given: "DIR", "--output", "--format or
/// --recipe".
std::vector<std::string> missingOptions(const CLI::App& command);

/// "DIR, --output and --layout are required".
std::string requiredText(const std::vector<std::string>& missing);

} // namespace octavo::tools
