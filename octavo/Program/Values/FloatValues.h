// A tensor's values as f32.
#pragma once

#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Values/Comparison.h"

#include <cstddef>
#include <span>
#include <vector>

namespace octavo::program {

/// A view of a tensor's values as f32; f32 tensors are not copied. The tensor must outlive it.
class FloatValues {
public:
  explicit FloatValues(const numerics::Tensor& tensor) {
    if (tensor.type == numerics::ElementType(format::element("f32"))) {
      values = tensor.as<float>();
      return;
    }
    storage.resize(static_cast<std::size_t>(tensor.size()));
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      storage[static_cast<std::size_t>(i)] = static_cast<float>(valueOf(tensor, i));
    values = storage;
  }
  FloatValues(const FloatValues&) = delete;

  std::span<const float> get() const { return values; }

private:
  std::vector<float> storage;
  std::span<const float> values;
};

} // namespace octavo::program
