#include "octavo/Program/Steps/Products/RowGroups.h"

#include <fmt/format.h>

namespace octavo::program {

Outcome checkGroups(const Step& step, const RowGroups& groups, const Frame& frame) {
  if (const auto group = groups.negative(frame))
    return failure(step, fmt::format("group sizes must not be negative; that of group {} is {}",
                                     *group, groups.size(frame, *group)));
  return {};
}

} // namespace octavo::program
