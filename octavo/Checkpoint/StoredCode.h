// Reads one code from the bytes of a file.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace octavo::checkpoint {

/// The code at `stored`, zero-extended. Files are little-endian, and so are all machines that
/// octavo runs on.
inline std::uint64_t codeAt(const format::ElementFormat& format, const std::byte* stored) {
  std::uint64_t code = 0;
  std::memcpy(&code, stored, static_cast<std::size_t>(format.bytes()));
  return code;
}

} // namespace octavo::checkpoint
