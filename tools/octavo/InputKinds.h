// Inputs that another command takes: a program given to `octavo checkpoint`, a model's name on the
// Hugging Face hub.
#pragma once

#include "tools/octavo/Commands.h"

namespace octavo::tools {

/// Throws CommandError if an argument of the innermost subcommand, or its --weights or --against,
/// names what the command cannot read; the message says which command can. What only the content of
/// a program tells is said by its reader.
void checkInputKinds(const CLI::App& app);

} // namespace octavo::tools
