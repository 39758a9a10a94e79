// Files that a command writes about a checkpoint, beside it or in its folder.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <filesystem>

namespace octavo::tools {

/// Throws CommandError where `output` is a file that the checkpoint consists of: writing it would
/// take the weights, or what says how to read them.
void checkSideFile(const std::filesystem::path& output, const checkpoint::Folder& folder);

/// The file that `output` leads to where it is a link, which stays; else itself.
std::filesystem::path fileBehind(const std::filesystem::path& output);

} // namespace octavo::tools
