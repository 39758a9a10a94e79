// Shortens long messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace octavo::base {

/// The longest error message in bytes, however long the names and values in the input are.
inline constexpr std::size_t kLongestMessage = 1900;

/// `text` if it has at most `most` bytes (at least 64). Else its beginning and end, in at most
/// `most` bytes: `BEGIN ... (N bytes left out) ... END`. UTF-8 characters are not split.
std::string shortened(std::string_view text, std::size_t most = kLongestMessage);

} // namespace octavo::base
