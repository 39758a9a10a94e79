// Makes names in folders survive a loss of power. Syncing a file keeps its bytes; syncing its
// folder keeps its name, or the fact that it was removed.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <vector>

namespace octavo::checkpoint {

/// Syncs the names in a folder, added and removed. A file system that cannot sync folders is not an
/// error. Errors: the folder cannot be opened; the disk.
tl::expected<void, Error> syncFolder(const std::filesystem::path& folder);

/// Creates a folder and the missing folders above it, and syncs their names. Returns the created
/// folders, the innermost first. Errors: the file system; a file has that name.
tl::expected<std::vector<std::filesystem::path>, Error>
createFolders(const std::filesystem::path& folder);

/// The folder of `file`; "." if the path has no folder.
std::filesystem::path folderOf(const std::filesystem::path& file);

} // namespace octavo::checkpoint
