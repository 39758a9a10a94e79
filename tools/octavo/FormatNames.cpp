#include "tools/octavo/FormatNames.h"

#include "tools/octavo/Commands.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Format/UnknownFormat.h"
#include "octavo/Text/NearNames.h"

namespace octavo::tools {

std::vector<std::string> scaledFormatNames() { return text::namesOf(format::kScaledFormats); }
std::vector<std::string> scaleRuleNames() { return text::namesOf(format::kScaleRules); }

const format::ScaledFormat* scaledFormatNamed(const std::string& name,
                                              const std::vector<std::string>& also) {
  if (const format::ScaledFormat* format = format::scaledFormatCalled(name))
    return format;
  std::vector<std::string> names = scaledFormatNames();
  names.insert(names.end(), also.begin(), also.end());
  throw CommandError(format::unknownFormat(name, names), ExitCode::BadUsage);
}

} // namespace octavo::tools
