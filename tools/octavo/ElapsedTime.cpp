#include "tools/octavo/ElapsedTime.h"

#include <fmt/format.h>

namespace octavo::tools {

ElapsedTime::ElapsedTime(std::string what)
    : line([what = std::move(what)](double seconds) {
        return fmt::format("{}, {:.0f} s", what, seconds);
      }) {}

} // namespace octavo::tools
