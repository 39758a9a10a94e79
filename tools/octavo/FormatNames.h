// Names of scaled formats and scale rules, for options that take one.
#pragma once

#include <string>
#include <vector>

namespace octavo::format {
struct ScaledFormat;
}

namespace octavo::tools {

/// All names, in the order of their tables.
std::vector<std::string> scaledFormatNames();
std::vector<std::string> scaleRuleNames();

/// The format named `name`. Otherwise throws CommandError with the valid names and with `also`,
/// other values of the option.
const format::ScaledFormat* scaledFormatNamed(const std::string& name,
                                              const std::vector<std::string>& also = {});

} // namespace octavo::tools
