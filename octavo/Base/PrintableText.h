// Text from files, which may be any bytes, made fit for a terminal and for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::base {

enum class Newlines : std::uint8_t { Escaped, Kept };

/// `text` with everything escaped that a terminal obeys or that is not seen: control characters,
/// those that turn the direction of text (Unicode 15, Bidi_Control) or end lines, and bytes that
/// are not UTF-8. What was escaped stays as it is. Characters of more than one byte, and DEL,
/// become
/// \uXXXX, so that JSON stays the same JSON.
std::string printable(std::string_view text, Newlines newlines = Newlines::Escaped);

/// The same in double quotes, cut after 200 bytes.
std::string inQuotes(std::string_view text);

} // namespace octavo::base
