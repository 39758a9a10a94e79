// Text of any length, cut to what a reader of messages bears.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace octavo::base {

/// Bytes of the longest error message, whatever names and values the input has.
inline constexpr std::size_t kLongestMessage = 1900;

/// `text` itself where it has at most `most` bytes (at least 64). Else its beginning and its end,
/// and between them how many bytes are left out: `BEGIN ... (N bytes left out) ... END`, of at most
/// `most` bytes. No character of UTF-8 is cut in two.
std::string shortened(std::string_view text, std::size_t most = kLongestMessage);

} // namespace octavo::base
