#include "octavo/Kernels/QuantizedTensor.h"

#include "octavo/Numerics/Tensor.h"

#include <cstring>
#include <vector>

namespace octavo::kernels {

tl::expected<numerics::ScaledTensor, NonFiniteInput>
quantizedTensor(const float* values, std::span<const std::int64_t> shape, const ScaledType& type,
                const QuantizeOptions& options, std::span<const std::uint32_t> randomBits,
                const Execution& execution) {
  numerics::ScaledTensor result{{shape.begin(), shape.end()}, type, {}, {}};
  result.elements.resize(static_cast<std::size_t>(numerics::elementCount(result.shape)));
  const auto blocks = static_cast<std::size_t>(
      numerics::elementCount(format::scaleShape(result.shape, type.block)));
  const auto width = static_cast<std::size_t>(type.scale->bytes());
  std::vector<std::byte> scales(blocks * width);
  const QuantizeReport report = quantize(values, shape, type, options, result.elements.data(),
                                         scales.data(), randomBits, execution);
  if (report.refused)
    return tl::make_unexpected(*report.refused);
  result.outer = report.outer;
  result.scales.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i)
    std::memcpy(&result.scales[i], scales.data() + i * width, width);
  return result;
}

} // namespace octavo::kernels
