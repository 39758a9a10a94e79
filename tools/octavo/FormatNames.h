// Names of scaled formats and scale rules, for the help of options that take one.
#pragma once

#include <string>
#include <vector>

namespace octavo::tools {

/// In the order of their tables.
std::vector<std::string> scaledFormatNames();
std::vector<std::string> scaleRuleNames();

} // namespace octavo::tools
