#include "octavo/Checkpoint/Files/Error.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

namespace {

/// Bytes of the UTF-8 character that `text` starts with (Unicode 15, table 3-7); 0 if it is none.
std::size_t characterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xc2 && lead <= 0xdf ? 2
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  const unsigned lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) < (i == 1 ? lowest : 0x80) || byte(i) > (i == 1 ? highest : 0xbf))
      return 0;
  return length;
}

} // namespace

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string result = "\"";
  std::size_t i = 0;
  while (i < text.size() && i < kLongest) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = characterLength(text.substr(i));
    if (length == 0 || byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return result + (i < text.size() ? "...\"" : "\"");
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
