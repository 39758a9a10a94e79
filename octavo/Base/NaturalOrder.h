// The order of names in which people count.
#pragma once

#include <string_view>

namespace octavo::base {

/// Whether `a` comes before `b`, numbers in names compared as numbers: "layers.2" before
/// "layers.10".
bool precedesNaturally(std::string_view a, std::string_view b);

} // namespace octavo::base
