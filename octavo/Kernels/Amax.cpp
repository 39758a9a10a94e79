#include "octavo/Kernels/Amax.h"

#include "octavo/Kernels/KernelTable.h"

#include <bit>

namespace octavo::kernels {

static constexpr std::size_t kAmaxGrain = std::size_t{1} << 16;

float amax(WideType type, const void* values, std::size_t n, const Execution& execution) {
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Amax* const kernel = type == WideType::F32    ? table.amaxF32
                                    : type == WideType::Bf16 ? table.amaxBf16
                                                             : table.amaxF16;
  const auto* from = static_cast<const std::byte*>(values);
  SharedMaximum greatest;
  forRanges(n, kAmaxGrain, execution, [&](std::size_t begin, std::size_t end) {
    greatest.raise(kernel(from + begin * wideBytes(type), end - begin));
  });
  return std::bit_cast<float>(greatest.get());
}

} // namespace octavo::kernels
