// How counts and names are printed by the subcommands of `octavo checkpoint`.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Text/ByteText.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::tools {

using text::bytesText;

/// "1 layer", "3 layers".
std::string countText(std::uint64_t n, std::string_view noun);

/// Text with names from a file, fit for a terminal: control bytes escaped.
std::string nameText(std::string_view name);

/// JSON on lines of its own; bytes that are no UTF-8 (of file names) are replaced.
std::string jsonText(const checkpoint::Json& json);

} // namespace octavo::tools
