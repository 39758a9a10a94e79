// What tensors beside weights are called that enter their values.
#pragma once

#include <string_view>

namespace octavo::checkpoint {

/// Whether a name says that the tensor scales or shifts codes, whatever tool wrote it.
bool isNamedLikeScale(std::string_view name);

} // namespace octavo::checkpoint
