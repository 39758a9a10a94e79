#include "tools/octavo/checkpoint/Wording.h"

#include <fmt/format.h>

#include <array>

namespace octavo::tools {

std::string bytesText(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000)
    return countText(bytes, "byte");
  double amount = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (amount >= 999.95 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

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
