// Recognizes names of scales.
#pragma once

#include <string_view>

namespace octavo::checkpoint {

/// Whether a name implies that the tensor scales or shifts codes, for any tool: "scale", "absmax",
/// "zero_point", ...
bool isNamedLikeScale(std::string_view name);

} // namespace octavo::checkpoint
