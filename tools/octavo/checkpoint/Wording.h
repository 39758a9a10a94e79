// How counts and names are printed by the subcommands of `octavo checkpoint`.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Text/ByteText.h"
#include "octavo/Text/PrintableText.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::tools {

using text::bytesText;
using text::printable;

/// "1 layer", "3 layers".
std::string countText(std::uint64_t n, std::string_view noun);

/// JSON on lines of its own; bytes that are no UTF-8 (of file names) are replaced.
std::string jsonText(const checkpoint::Json& json);

} // namespace octavo::tools
