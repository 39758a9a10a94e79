#include "octavo/Base/PrintableText.h"

#include <fmt/format.h>

#include <cstddef>

namespace octavo::base {

namespace {

struct Character {
  char32_t code;
  std::size_t length; ///< in bytes; 0: no character
};

/// The first character of nonempty `text` (Unicode 15, table 3-7).
Character firstCharacter(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xc2 && lead <= 0xdf ? 2
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length <= 1)
    return {lead, length};
  const unsigned lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  char32_t code = lead & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < (i == 1 ? lowest : 0x80) || byte(i) > (i == 1 ? highest : 0xbf))
      return {lead, 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {code, length};
}

bool isHidden(char32_t code) {
  return (code >= 0x7f && code <= 0x9f) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// The escaped characters of `text` that begin before byte `most`.
std::string escaped(std::string_view text, std::size_t most, Newlines newlines) {
  std::string result;
  for (std::size_t i = 0; i < text.size() && i < most;) {
    const auto [code, length] = firstCharacter(text.substr(i));
    if (length == 0 || (code < 0x20 && !(code == '\n' && newlines == Newlines::Kept)))
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
    else if (isHidden(code))
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    else
      result += text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return result;
}

} // namespace

std::string printable(std::string_view text, Newlines newlines) {
  return escaped(text, text.size(), newlines);
}

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return '"' + escaped(text, kLongest, Newlines::Escaped) +
         (text.size() > kLongest ? "...\"" : "\"");
}

} // namespace octavo::base
