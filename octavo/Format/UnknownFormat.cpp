#include "octavo/Format/UnknownFormat.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Text/NearNames.h"

namespace octavo::format {

/// What is wrong with the block size of a name that begins with that of a row; empty of others.
static std::string wrongBlockSize(std::string_view name) {
  const ScaledFormat* row = findScaledFormat(name.substr(0, name.find(':')));
  if (row == nullptr)
    return {};
  const std::string format(row->name);
  if (row->along == kWholeAxis)
    return format + " has no blocks whose size could be chosen";
  return "blocks of " + format + " are a power of two from " + std::to_string(kLeastBlock) +
         " to " + std::to_string(kMostBlock) + " long, as in " + format + ":64";
}

std::string unknownFormat(std::string_view name, const std::vector<std::string>& known) {
  const std::string fault = wrongBlockSize(name);
  return fault.empty() ? text::notAmong("scaled format", name, known)
                       : "no scaled format \"" + std::string(name) + "\": " + fault;
}

} // namespace octavo::format
