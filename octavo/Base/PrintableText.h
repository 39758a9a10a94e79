// Makes untrusted text fit for terminals and messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::base {

/// Whether newlines are escaped or kept.
enum class Newlines : std::uint8_t { Escaped, Kept };

/// Escapes what a terminal interprets or does not show: control characters, characters that change
/// the direction of text (Unicode 15, Bidi_Control) or end lines, and bytes that are not UTF-8. DEL
/// and longer characters become \uXXXX, so that JSON stays equivalent; other bytes become \xXX.
/// Escaped text is returned unchanged.
std::string printable(std::string_view text, Newlines newlines = Newlines::Escaped);

/// The same in double quotes, cut after 200 bytes.
std::string inQuotes(std::string_view text);

} // namespace octavo::base
