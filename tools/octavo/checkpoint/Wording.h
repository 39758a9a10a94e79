// Prints counts and JSON for the subcommands of `octavo checkpoint`.
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

/// Indented JSON. Bytes that are not UTF-8 (in file names) are replaced.
std::string jsonText(const checkpoint::Json& json);

} // namespace octavo::tools
