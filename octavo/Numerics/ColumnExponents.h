// Multiplication of a tensor's columns by powers of two.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::numerics {

/// Multiplies each value of a row-major tensor by 2^exponents[i], i its index on `axis`. Exact
/// within f32's range of normal numbers. exponents.size() is the extent of `axis`.
inline void multiplyColumns(std::span<float> values, std::span<const std::int64_t> shape,
                            std::size_t axis, std::span<const std::int8_t> exponents) {
  std::size_t inner = 1;
  for (const std::int64_t extent : shape.subspan(axis + 1))
    inner *= static_cast<std::size_t>(extent);
  for (std::size_t i = 0; i < values.size();)
    for (const std::int8_t exponent : exponents)
      for (std::size_t at = 0; at < inner; ++at, ++i)
        values[i] = std::ldexp(values[i], exponent);
}

} // namespace octavo::numerics
