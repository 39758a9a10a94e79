// Files that a command writes about a checkpoint, beside it or in its folder.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <filesystem>

namespace octavo::tools {

/// Throws CommandError where a file that the command line writes is one that the checkpoint
/// consists of, or another that is in its folder already (its tokenizer), unless that is an output
/// of an earlier run. Paths.h compares paths; this knows what belongs to a checkpoint: beside a
/// single file that is given, too.
void checkOutputs(const checkpoint::Folder& folder);

/// The file that `output` leads to where it is a link, which stays; else itself.
std::filesystem::path fileBehind(const std::filesystem::path& output);

} // namespace octavo::tools
