// Files that a command writes about a checkpoint, beside it or in its folder.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <filesystem>

namespace octavo::tools {

/// Throws CommandError where `output` is a file that the checkpoint consists of: writing it would
/// take the weights, or what says how to read them.
void checkSideFile(const std::filesystem::path& output, const checkpoint::Folder& folder);

} // namespace octavo::tools
