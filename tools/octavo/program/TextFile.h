// Files that a command writes as a whole, or not at all.
#pragma once

#include "octavo/Checkpoint/Files/OutputFile.h"

#include <filesystem>
#include <string>

namespace octavo::tools {

/// A file under a temporary name, so that a place that cannot be written is known before the work.
/// This and the next throw CommandError.
checkpoint::OutputFile createFile(const std::filesystem::path& path);

/// Writes the text and gives the file its name.
void commit(checkpoint::OutputFile& file, const std::string& text);

/// Both.
void writeText(const std::filesystem::path& path, const std::string& text);

} // namespace octavo::tools
