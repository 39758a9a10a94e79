#include "octavo/Kernels/Convert.h"

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/Widen.h"

#include <algorithm>
#include <cassert>

namespace octavo::kernels {

/// Elements of a task: a few hundred kilobytes of traffic, a few tens of microseconds.
static constexpr std::size_t kConvertGrain = std::size_t{1} << 16;

/// Random numbers of a stream that are made at a time: they stay in the first-level cache.
static constexpr std::size_t kConvertedNumbers = 2048;

static KernelTable::Convert* convertKernel(const KernelTable& table, WideType type) {
  return type == WideType::F32    ? table.convertF32
         : type == WideType::Bf16 ? table.convertBf16
                                  : table.convertF16;
}

void convert(const ElementFormat& format, const Conversion& conversion, WideType type,
             const void* values, std::uint8_t* codes, std::size_t n,
             std::span<const std::uint32_t> randomBits, const Execution& execution) {
  assert(conversion.rounding == Rounding::Stochastic ? randomBits.size() == n : randomBits.empty());
  KernelTable::Convert* const kernel = convertKernel(kernelTable(execution.isa), type);
  const ConvertPlan& plan = convertPlan(format, conversion);
  const Stores stores = storesFor(n * (wideBytes(type) + 1));
  const auto* from = static_cast<const std::byte*>(values);
  forRanges(n, kConvertGrain, execution, [&](std::size_t begin, std::size_t end) {
    kernel(plan, from + begin * wideBytes(type), codes + begin, end - begin,
           randomBits.empty() ? nullptr : randomBits.data() + begin, stores);
  });
}

void convertSeeded(const ElementFormat& format, const Conversion& conversion, WideType type,
                   const void* values, std::uint8_t* codes, std::size_t n,
                   const numerics::RandomStream& stream, std::uint64_t first,
                   const Execution& execution) {
  assert(conversion.rounding == Rounding::Stochastic);
  const KernelTable& table = kernelTable(execution.isa);
  KernelTable::Convert* const kernel = convertKernel(table, type);
  const ConvertPlan& plan = convertPlan(format, conversion);
  const auto* from = static_cast<const std::byte*>(values);
  forRanges(n, kConvertGrain, execution, [&](std::size_t begin, std::size_t end) {
    std::uint32_t numbers[kConvertedNumbers];
    for (std::size_t i = begin; i < end; i += kConvertedNumbers) {
      const std::size_t count = std::min(kConvertedNumbers, end - i);
      table.fillRandom(stream, first + i, numbers, count);
      kernel(plan, from + i * wideBytes(type), codes + i, count, numbers, Stores::Cached);
    }
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
  forRanges(n, kConvertGrain, execution, [&](std::size_t begin, std::size_t end) {
    kernel(plan, codes + begin, to + begin * wideBytes(type), end - begin, stores);
  });
}

void widen(const ElementFormat& format, const void* elements, WideType type, void* values,
           std::size_t n, const Execution& execution) {
  if (format.isNarrow())
    return decode(format, static_cast<const std::uint8_t*>(elements), type, values, n, execution);
  const WideType from = format.name == "f16" ? WideType::F16 : WideType::Bf16;
  forRanges(n, kConvertGrain, execution, [&](std::size_t begin, std::size_t end) {
    widen(from, static_cast<const std::byte*>(elements) + begin * wideBytes(from),
          static_cast<float*>(values) + begin, end - begin);
  });
}

} // namespace octavo::kernels
