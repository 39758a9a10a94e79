// Block sizes in names of scaled formats, "mxfp4:16".
#pragma once

#include <string>
#include <string_view>

namespace octavo::format {

/// What is wrong with the block size of a name that begins with that of a row, as a sentence; empty
/// of other names.
std::string wrongBlockSize(std::string_view name);

} // namespace octavo::format
