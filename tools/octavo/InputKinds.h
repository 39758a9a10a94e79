// Detects inputs that belong to another command: a program given to `octavo checkpoint`, a model's
// name on the Hugging Face hub.
#pragma once

#include "tools/octavo/Commands.h"

namespace octavo::tools {

/// Throws CommandError if an argument of the innermost subcommand, or its --weights or --against,
/// is of a kind that the command cannot read. The message names the command that can. Only names
/// and first bytes are examined; the reader of a program reports other errors.
void checkInputKinds(const CLI::App& app);

} // namespace octavo::tools
