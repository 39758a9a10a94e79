#include "tools/octavo/checkpoint/Wording.h"

#include <fmt/format.h>

namespace octavo::tools {

std::string countText(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string nameText(std::string_view name) {
  std::string text;
  for (char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

std::string jsonText(const checkpoint::Json& json) {
  return json.dump(2, ' ', false, checkpoint::Json::error_handler_t::replace) + "\n";
}

} // namespace octavo::tools
