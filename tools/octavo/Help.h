// What `octavo` says of its own commands: groups of subcommands, lines of at most 100 columns,
// `octavo help COMMAND`, and everything that a command line lacks.
#pragma once

#include "tools/octavo/Commands.h"

#include <string>
#include <vector>

namespace octavo::tools {

/// `octavo` and the subcommands down to `command`, as they are typed.
std::string typedName(const CLI::App& command);

/// An option as messages name it: "--output", or "DIR" for an argument without dashes.
std::string optionName(const CLI::Option& option);

/// Wraps the help of `app` and of its subcommands at 100 columns. Called before they are added.
void wrapHelp(CLI::App& app);

/// `command` needs one of `options`. CLI11 cannot say that along with its required options, so the
/// command's callback checks it; missingOptions names it together with the others.
void needsOneOf(const CLI::App& command, std::vector<const CLI::Option*> options);

/// What `command` needs and was not given: "DIR", "--output", "--format or --recipe".
std::vector<std::string> missingOptions(const CLI::App& command);

/// "DIR, --output and --layout are required".
std::string requiredText(const std::vector<std::string>& missing);

} // namespace octavo::tools
