#include "octavo/Kernels/Amax.h"

#include "octavo/Kernels/KernelTable.h"

#include <atomic>
#include <bit>

namespace octavo::kernels {

static constexpr std::size_t kGrain = std::size_t{1} << 16;

float amax(WideType type, const void* values, std::size_t n, const Execution& execution) {
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Amax* const kernel = type == WideType::F32    ? table.amaxF32
                                    : type == WideType::Bf16 ? table.amaxBf16
                                                             : table.amaxF16;
  const auto* from = static_cast<const std::byte*>(values);
  std::atomic<std::uint32_t> greatest{0};
  forRanges(n, kGrain, execution, [&](std::size_t begin, std::size_t end) {
    const std::uint32_t found = kernel(from + begin * wideBytes(type), end - begin);
    std::uint32_t current = greatest.load(std::memory_order_relaxed);
    while (found > current && !greatest.compare_exchange_weak(current, found)) {
    }
  });
  return std::bit_cast<float>(greatest.load());
}

} // namespace octavo::kernels
