#include "tools/octavo/FormatNames.h"

#include "tools/octavo/Commands.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Format/UnknownFormat.h"

namespace octavo::tools {

std::vector<std::string> scaledFormatNames() { return base::namesOf(format::kScaledFormats); }
std::vector<std::string> scaleRuleNames() { return base::namesOf(format::kScaleRules); }

const format::ScaledFormat* scaledFormatNamed(const std::string& name,
                                              const std::vector<std::string>& also) {
  if (const format::ScaledFormat* format = format::scaledFormatCalled(name))
    return format;
  std::vector<std::string> names = scaledFormatNames();
  names.insert(names.end(), also.begin(), also.end());
  throw CommandError(format::unknownFormat(name, names), ExitCode::BadUsage);
}

} // namespace octavo::tools
