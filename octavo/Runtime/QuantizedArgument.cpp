#include "octavo/Runtime/QuantizedArgument.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Runtime/Comparison.h"

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
  return kernels::quantizedTensor(FloatValues(tensor).get().data(), argument.shape, scaled.type,
                                  settings)
      .map([](numerics::ScaledTensor result) { return execution::Value(std::move(result)); });
}

} // namespace octavo::runtime
