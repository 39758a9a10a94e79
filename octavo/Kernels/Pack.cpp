#include "octavo/Kernels/Pack.h"

#include "octavo/Kernels/KernelTable.h"

#include <cassert>

namespace octavo::kernels {

/// Codes of a task; a multiple of 8, so that each task's bits begin at a byte.
static constexpr std::size_t kGrain = std::size_t{1} << 18;

void pack(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* packed,
          const Execution& execution) {
  assert(width == 4 || width == 6);
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Repack* const kernel = width == 4 ? table.pack4 : table.pack6;
  forRanges(n, kGrain, execution, [&](std::size_t begin, std::size_t end) {
    kernel(codes + begin, packed + packedBytes(begin, width), end - begin);
  });
}

void unpack(const std::uint8_t* packed, std::size_t n, int width, std::uint8_t* codes,
            const Execution& execution) {
  assert(width == 4 || width == 6);
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Repack* const kernel = width == 4 ? table.unpack4 : table.unpack6;
  forRanges(n, kGrain, execution, [&](std::size_t begin, std::size_t end) {
    kernel(packed + packedBytes(begin, width), codes + begin, end - begin);
  });
}

} // namespace octavo::kernels
