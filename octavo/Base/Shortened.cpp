#include "octavo/Base/Shortened.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace octavo::base {

namespace {

bool continuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

} // namespace

std::string shortened(std::string_view text, std::size_t most) {
  assert(most >= 64);
  if (text.size() <= most)
    return std::string(text);
  constexpr std::size_t kLongestGap = 45; // with a number of 20 digits
  const std::size_t kept = most - kLongestGap;
  // Messages begin with what went wrong and end with what to do, so both ends are kept.
  std::size_t begin = kept - kept / 3, end = text.size() - kept / 3;
  // In bytes. A longer run of continuation bytes is not UTF-8 and may be split.
  constexpr int kLongestCharacter = 4;
  for (int i = 1; i < kLongestCharacter && continuesCharacter(text[begin]); ++i)
    --begin;
  for (int i = 1; i < kLongestCharacter && end < text.size() && continuesCharacter(text[end]); ++i)
    ++end;
  return fmt::format("{} ... ({} bytes left out) ... {}", text.substr(0, begin), end - begin,
                     text.substr(end));
}

} // namespace octavo::base
