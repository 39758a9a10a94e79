#include "octavo/Format/ElementFormat.h"

#include <algorithm>
#include <cctype>

namespace octavo::format {

static bool sameSpelling(std::string_view a, std::string_view b) {
  return !a.empty() && std::ranges::equal(
                           a, b, {}, [](unsigned char c) { return std::tolower(c); },
                           [](unsigned char c) { return std::tolower(c); });
}

const ElementFormat* findElementFormat(std::string_view spelling) {
  // octavo's own names come first: OCP's E4M3 is e4m3fn, but `e4m3` here is the IEEE-like format.
  for (const ElementFormat& row : kElementFormats)
    if (row.name == spelling)
      return &row;
  for (const ElementFormat& row : kElementFormats)
    for (std::string_view other : {row.mlir, row.numpy, row.torch, row.safetensors})
      if (sameSpelling(other, spelling))
        return &row;
  return nullptr;
}

} // namespace octavo::format
