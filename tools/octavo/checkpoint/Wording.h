// How counts and names are printed by the subcommands of `octavo checkpoint`.
#pragma once

#include "octavo/Base/ByteText.h"
#include "octavo/Base/PrintableText.h"
#include "octavo/Checkpoint/Files/JsonFile.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::tools {

using base::bytesText;
using base::printable;

/// "1 layer", "3 layers".
std::string countText(std::uint64_t n, std::string_view noun);

/// JSON on lines of its own; bytes that are no UTF-8 (of file names) are replaced.
std::string jsonText(const checkpoint::Json& json);

} // namespace octavo::tools
