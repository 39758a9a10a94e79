#include "octavo/Program/Values/QuantizedArgument.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Numerics/ColumnExponents.h"
#include "octavo/Program/Values/Comparison.h"
#include "octavo/Program/Values/FloatValues.h"
#include "octavo/Program/Values/RefusedInput.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace octavo::program {

tl::expected<Value, numerics::NonFiniteInput> quantizedFor(const Argument& argument,
                                                           const numerics::Tensor& tensor) {
  const auto& scaled = std::get<ScaledArgument>(argument.type);
  numerics::QuantizeOptions settings = scaled.options;
  settings.input = &tensor.type.format();
  const FloatValues values(tensor);
  std::vector<float> moved;
  if (!scaled.exponents.empty()) {
    moved.assign(values.get().begin(), values.get().end());
    numerics::multiplyColumns(moved, argument.shape, scaled.axis, scaled.exponents);
  }
  return kernels::quantizedTensor(moved.empty() ? values.get().data() : moved.data(),
                                  argument.shape, scaled.type, settings)
      .map([](numerics::ScaledTensor result) { return Value(std::move(result)); });
}

std::string describeRefused(const Argument& argument, const numerics::NonFiniteInput& input) {
  return fmt::format("element [{}] is {}{}{}; or repair the weight",
                     fmt::join(indexOf(argument.shape, input.index), ", "), input.value,
                     program::kRefused, program::kNonFiniteOptions);
}

} // namespace octavo::program
