#include "octavo/Kernels/Pack.h"

#include "octavo/Kernels/KernelTable.h"

#include <cassert>

namespace octavo::kernels {

/// Codes of a task; a multiple of 8, so that each task's bits begin at a byte.
static constexpr std::size_t kPackGrain = std::size_t{1} << 18;

/// The widths that no format of the standards has, code after code.
static void packStream(const std::uint8_t* codes, std::uint8_t* packed, std::size_t n, int width) {
  unsigned buffer = 0;
  int filled = 0;
  for (std::size_t i = 0; i < n; ++i) {
    buffer |= (codes[i] & ((1u << width) - 1)) << filled;
    for (filled += width; filled >= 8; filled -= 8, buffer >>= 8)
      *packed++ = static_cast<std::uint8_t>(buffer);
  }
  if (filled > 0)
    *packed = static_cast<std::uint8_t>(buffer);
}

static void unpackStream(const std::uint8_t* packed, std::uint8_t* codes, std::size_t n,
                         int width) {
  unsigned buffer = 0;
  int available = 0;
  for (std::size_t i = 0; i < n; ++i, buffer >>= width, available -= width) {
    if (available < width) {
      buffer |= static_cast<unsigned>(*packed++) << available;
      available += 8;
    }
    codes[i] = static_cast<std::uint8_t>(buffer & ((1u << width) - 1));
  }
}

void pack(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* packed,
          const Execution& execution) {
  assert(width >= 1 && width <= 8);
  const KernelTable& table = kernelTable(execution.isa);
  forRanges(n, kPackGrain, execution, [&](std::size_t begin, std::size_t end) {
    std::uint8_t* const to = packed + packedBytes(begin, width);
    if (width == 4)
      table.pack4(codes + begin, to, end - begin);
    else if (width == 6)
      table.pack6(codes + begin, to, end - begin);
    else
      packStream(codes + begin, to, end - begin, width);
  });
}

void unpack(const std::uint8_t* packed, std::size_t n, int width, std::uint8_t* codes,
            const Execution& execution) {
  assert(width >= 1 && width <= 8);
  const KernelTable& table = kernelTable(execution.isa);
  forRanges(n, kPackGrain, execution, [&](std::size_t begin, std::size_t end) {
    const std::uint8_t* const from = packed + packedBytes(begin, width);
    if (width == 4)
      table.unpack4(from, codes + begin, end - begin);
    else if (width == 6)
      table.unpack6(from, codes + begin, end - begin);
    else
      unpackStream(from, codes + begin, end - begin, width);
  });
}

} // namespace octavo::kernels
