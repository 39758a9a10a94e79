#include "octavo/Kernels/QuantizedTensor.h"

#include "octavo/Numerics/Tensor.h"

#include <cstring>
#include <utility>
#include <vector>

namespace octavo::kernels {

tl::expected<numerics::ScaledTensor, NonFiniteInput>
quantizedTensor(const float* values, std::span<const std::int64_t> shape, const ScaledType& type,
                const QuantizeOptions& options, std::span<const std::uint32_t> randomBits,
                Layout layout, const Execution& execution) {
  numerics::ScaledTensor result{{shape.begin(), shape.end()}, type, {}, {}};
  result.elements.resize(static_cast<std::size_t>(numerics::elementCount(result.shape)));
  const auto blocks = static_cast<std::size_t>(
      numerics::elementCount(format::scaleShape(result.shape, type.block)));
  const auto width = static_cast<std::size_t>(type.scale->bytes());
  std::vector<std::byte> scales(blocks * width);
  QuantizeReport report;
  if (layout == Layout::RowMajor) {
    report = quantize(values, shape, type, options, result.elements.data(), scales.data(),
                      randomBits, execution);
  } else {
    const auto exchanged = [](std::span<const std::int64_t> extents) {
      std::vector<std::int64_t> all(extents.begin(), extents.end());
      std::swap(all[all.size() - 2], all.back());
      return all;
    };
    ScaledType given = type;
    given.block = exchanged(type.block);
    report = quantizeTransposed(values, exchanged(shape), options,
                                {.type = std::move(given),
                                 .codes = result.elements.data(),
                                 .scales = scales.data(),
                                 .randomBits = randomBits},
                                execution);
  }
  if (report.refused)
    return tl::make_unexpected(*report.refused);
  result.outer = report.outer;
  result.scales.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i)
    std::memcpy(&result.scales[i], scales.data() + i * width, width);
  return result;
}

} // namespace octavo::kernels
