#include "tools/octavo/checkpoint/Wording.h"

#include <fmt/format.h>

namespace octavo::tools {

std::string countText(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string jsonText(const checkpoint::Json& json) {
  return json.dump(2, ' ', false, checkpoint::Json::error_handler_t::replace) + "\n";
}

} // namespace octavo::tools
