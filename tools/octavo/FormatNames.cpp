#include "tools/octavo/FormatNames.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Text/NearNames.h"

namespace octavo::tools {

std::vector<std::string> scaledFormatNames() { return text::namesOf(format::kScaledFormats); }
std::vector<std::string> scaleRuleNames() { return text::namesOf(format::kScaleRules); }

} // namespace octavo::tools
