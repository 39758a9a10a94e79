#include "octavo/Checkpoint/Error.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string result = "\"";
  for (char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + (text.size() > kLongest ? "...\"" : "\"");
}

std::string Error::message() const {
  std::string text = file + ": ";
  if (!tensor.empty())
    text += "tensor " + inQuotes(tensor) + ": ";
  text += problem;
  if (!expected.empty())
    text += ": expected " + expected;
  if (!found.empty())
    text += (expected.empty() ? ": found " : ", found ") + found;
  if (offset)
    text += fmt::format(" (at byte {})", *offset);
  if (!fix.empty())
    text += "; " + fix;
  return text;
}

} // namespace octavo::checkpoint
