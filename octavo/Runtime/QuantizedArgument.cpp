#include "octavo/Runtime/QuantizedArgument.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Runtime/FloatValues.h"

#include <utility>

namespace octavo::runtime {

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
