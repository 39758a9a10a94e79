#include "octavo/Format/BlockSize.h"

#include "octavo/Format/ScaledFormat.h"

namespace octavo::format {

std::string wrongBlockSize(std::string_view name) {
  const ScaledFormat* row = findScaledFormat(name.substr(0, name.find(':')));
  if (row == nullptr || findScaledFormat(name) != nullptr)
    return {};
  const std::string format(row->name);
  if (row->along == kWholeAxis)
    return format + " has no blocks whose size could be chosen";
  return "blocks of " + format + " are a power of two from " + std::to_string(kLeastBlock) +
         " to " + std::to_string(kMostBlock) + " long, as in " + format + ":64";
}

} // namespace octavo::format
