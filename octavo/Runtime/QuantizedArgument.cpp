#include "octavo/Runtime/QuantizedArgument.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Runtime/Comparison.h"

#include <cstring>
#include <utility>

namespace octavo::runtime {

namespace {

/// A tensor's values as f32, without a copy where they are. The tensor must outlive it.
class FloatValues {
public:
  FloatValues(const numerics::Tensor& tensor) {
    const auto n = static_cast<std::size_t>(tensor.size());
    if (tensor.type == numerics::ElementType(format::element("f32"))) {
      values = {reinterpret_cast<const float*>(tensor.bytes.data()), n};
      return;
    }
    storage.resize(n);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      storage[i] = static_cast<float>(valueOf(tensor, i));
    values = storage;
  }
  FloatValues(const FloatValues&) = delete;

  std::span<const float> get() const { return values; }

private:
  std::vector<float> storage;
  std::span<const float> values;
};

} // namespace

tl::expected<execution::Value, numerics::NonFiniteInput>
quantizedFor(const Argument& argument, const numerics::Tensor& tensor) {
  const auto& scaled = std::get<ScaledArgument>(argument.type);
  numerics::QuantizeOptions settings = scaled.options;
  settings.input = &tensor.type.format();
  numerics::ScaledTensor result{argument.shape, scaled.type, {}, {}};
  result.elements.resize(static_cast<std::size_t>(numerics::elementCount(argument.shape)));
  const auto blocks = static_cast<std::size_t>(
      numerics::elementCount(format::scaleShape(argument.shape, scaled.type.block)));
  const auto width = static_cast<std::size_t>(scaled.type.scale->bytes());
  std::vector<std::byte> scales(blocks * width);
  const kernels::QuantizeReport report =
      kernels::quantize(FloatValues(tensor).get().data(), argument.shape, scaled.type, settings,
                        result.elements.data(), scales.data());
  if (report.refused)
    return tl::make_unexpected(
        numerics::NonFiniteInput{report.refused->index, report.refused->value});
  result.outer = report.outer;
  result.scales.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i)
    std::memcpy(&result.scales[i], scales.data() + i * width, width);
  return execution::Value(std::move(result));
}

} // namespace octavo::runtime
