#include "octavo/Kernels/Convert.h"

#include "octavo/Kernels/KernelTable.h"

#include <cassert>

namespace octavo::kernels {

/// Elements of a task: a few hundred kilobytes of traffic, a few tens of microseconds.
static constexpr std::size_t kGrain = std::size_t{1} << 16;

void convert(const ElementFormat& format, const Conversion& conversion, WideType type,
             const void* values, std::uint8_t* codes, std::size_t n,
             std::span<const std::uint32_t> randomBits, const Execution& execution) {
  assert(conversion.rounding == Rounding::Stochastic ? randomBits.size() == n : randomBits.empty());
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Convert* const kernel = type == WideType::F32    ? table.convertF32
                                       : type == WideType::Bf16 ? table.convertBf16
                                                                : table.convertF16;
  const ConvertPlan plan = convertPlan(format, conversion);
  const Stores stores = storesFor(n * (wideBytes(type) + 1));
  const auto* from = static_cast<const std::byte*>(values);
  forRanges(n, kGrain, execution, [&](std::size_t begin, std::size_t end) {
    kernel(plan, from + begin * wideBytes(type), codes + begin, end - begin,
           randomBits.empty() ? nullptr : randomBits.data() + begin, stores);
  });
}

void decode(const ElementFormat& format, const std::uint8_t* codes, WideType type, void* values,
            std::size_t n, const Execution& execution) {
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Decode* const kernel = type == WideType::F32    ? table.decodeF32
                                      : type == WideType::Bf16 ? table.decodeBf16
                                                               : table.decodeF16;
  const DecodePlan& plan = decodePlan(format);
  const Stores stores = storesFor(n * (wideBytes(type) + 1));
  auto* to = static_cast<std::byte*>(values);
  forRanges(n, kGrain, execution, [&](std::size_t begin, std::size_t end) {
    kernel(plan, codes + begin, to + begin * wideBytes(type), end - begin, stores);
  });
}

} // namespace octavo::kernels
