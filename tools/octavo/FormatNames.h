// Scaled formats and scale rules by name, for options that take one.
#pragma once

#include <string>
#include <vector>

namespace octavo::format {
struct ScaledFormat;
}

namespace octavo::tools {

/// In the order of their tables.
std::vector<std::string> scaledFormatNames();
std::vector<std::string> scaleRuleNames();

/// The format of that name. Throws CommandError where there is none, which names those that there
/// are and the option's other values.
const format::ScaledFormat* scaledFormatNamed(const std::string& name,
                                              const std::vector<std::string>& also = {});

} // namespace octavo::tools
