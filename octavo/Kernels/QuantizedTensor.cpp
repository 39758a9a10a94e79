#include "octavo/Kernels/QuantizedTensor.h"

#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Numerics/Tensor.h"

#include <cstring>
#include <utility>

namespace octavo::kernels {

tl::expected<numerics::ScaledTensor, NonFiniteInput>
quantizedTensor(const float* values, std::span<const std::int64_t> shape, const ScaledType& type,
                const QuantizeOptions& options, std::span<const std::uint32_t> randomBits,
                Layout layout, const Execution& execution, numerics::ScaledTensor&& old) {
  numerics::ScaledTensor result = std::move(old);
  result.shape.assign(shape.begin(), shape.end());
  result.type = type;
  result.elements.resize(static_cast<std::size_t>(numerics::elementCount(result.shape)));
  const auto blocks = static_cast<std::size_t>(blocksOf(shape, type.block));
  const auto width = static_cast<std::size_t>(type.scale->bytes());
  ThreadVector<std::byte> scales(blocks * width);
  QuantizeReport report;
  if (layout == Layout::RowMajor) {
    report = quantize(values, shape, type, options, result.elements.data(), scales.data(),
                      randomBits, execution);
  } else {
    const auto exchange = [](auto& extents) {
      std::swap(extents[extents.size() - 2], extents.back());
    };
    ThreadVector<std::int64_t> given(shape.begin(), shape.end());
    exchange(given);
    const ThreadKept<ScaledCopy> copy;
    copy->type = type;
    exchange(copy->type.block);
    copy->codes = result.elements.data();
    copy->scales = scales.data();
    copy->randomBits = randomBits;
    report = quantizeTransposed(values, given, options, *copy, execution);
  }
  if (report.refused)
    return tl::make_unexpected(*report.refused);
  result.outer = report.outer;
  result.scales.assign(blocks, 0);
  for (std::size_t i = 0; i < blocks; ++i)
    std::memcpy(&result.scales[i], scales.data() + i * width, width);
  return result;
}

} // namespace octavo::kernels
