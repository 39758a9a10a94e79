// Text files that a command writes completely or not at all. All functions throw CommandError.
#pragma once

#include "octavo/Checkpoint/Files/OutputFile.h"

#include <filesystem>
#include <string>

namespace octavo::tools {

/// Creates a file under a temporary name, so that an unwritable place is reported before the work.
checkpoint::OutputFile createFile(const std::filesystem::path& path);

/// Writes the text and gives the file its final name.
void commit(checkpoint::OutputFile& file, const std::string& text);

/// createFile, then commit.
void writeText(const std::filesystem::path& path, const std::string& text);

} // namespace octavo::tools
