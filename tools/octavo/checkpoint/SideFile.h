// Files that a command writes about a checkpoint, beside it or in its folder.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <filesystem>

namespace octavo::tools {

/// Throws CommandError if the command line writes a file of the checkpoint or another file in its
/// folder (its tokenizer). An output of an earlier run may be replaced. Paths.h compares paths;
/// this function knows which files belong to a checkpoint, also beside a single file.
void checkOutputs(const checkpoint::Folder& folder);

/// The target of `output` if it is a link, so that the link stays; else `output` itself.
std::filesystem::path fileBehind(const std::filesystem::path& output);

} // namespace octavo::tools
