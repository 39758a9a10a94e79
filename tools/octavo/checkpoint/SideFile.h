// Files that a command writes about a checkpoint, beside it or in its folder.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <filesystem>
#include <functional>

namespace octavo::tools {

/// Throws CommandError where `output` is a file that the checkpoint consists of, or another that is
/// in its folder already (its tokenizer), unless that `isOwnKind`: what the command wrote before.
void checkSideFile(const std::filesystem::path& output, const checkpoint::Folder& folder,
                   const std::function<bool(const std::filesystem::path&)>& isOwnKind);

/// The file that `output` leads to where it is a link, which stays; else itself.
std::filesystem::path fileBehind(const std::filesystem::path& output);

} // namespace octavo::tools
