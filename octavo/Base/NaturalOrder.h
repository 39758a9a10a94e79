// Natural order of names.
#pragma once

#include <string_view>

namespace octavo::base {

/// Whether `a` comes before `b`, comparing digits as numbers: "layers.2" before "layers.10".
bool precedesNaturally(std::string_view a, std::string_view b);

} // namespace octavo::base
