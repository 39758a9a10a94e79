// Folders whose names survive a loss of power. A file that is synced keeps its bytes; its name, new
// or gone, lies in the folder and is kept when that is synced.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <vector>

namespace octavo::checkpoint {

/// Makes the names in a folder last: those that came, and those that went. A file system that
/// cannot sync folders is no error. Errors: the folder cannot be opened; the disk's.
tl::expected<void, Error> syncFolder(const std::filesystem::path& folder);

/// Creates a folder, and those above it that are missing, whose names last then. Returns those that
/// were made, the innermost first. Errors: the file system's; a file is there.
tl::expected<std::vector<std::filesystem::path>, Error>
createFolders(const std::filesystem::path& folder);

/// The folder that a file lies in.
std::filesystem::path folderOf(const std::filesystem::path& file);

} // namespace octavo::checkpoint
