// Byte counts as text.
#pragma once

#include <cstdint>
#include <string>

namespace octavo::base {

/// Such as "1.5 GB", in powers of 1000; exact below a kilobyte: "512 bytes".
std::string bytesText(std::uint64_t bytes);

} // namespace octavo::base
