// Makes untrusted text fit for terminals and messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::base {

enum class Newlines : std::uint8_t { Escaped, Kept };

/// Escapes what a terminal interprets or does not show: control characters, characters that change
/// the direction of text (Unicode 15, Bidi_Control) or end lines, and bytes that are not UTF-8.
/// Escaped text is returned unchanged. Characters of several bytes, and DEL, become \uXXXX, so that
/// JSON stays equivalent.
std::string printable(std::string_view text, Newlines newlines = Newlines::Escaped);

/// The same in double quotes, cut after 200 bytes.
std::string inQuotes(std::string_view text);

} // namespace octavo::base
