// The number type of a step: real or complex, with f32 or f64 parts.
#pragma once

#include <complex>
#include <cstdint>

namespace octavo::program {

struct Numbers {
  bool isComplex = false, isF64 = false;

  std::int64_t bytes() const { return (isF64 ? 8 : 4) * (isComplex ? 2 : 1); }
  /// Calls f with a value-initialized number of the type.
  template <typename F> auto visit(const F& f) const {
    if (isComplex)
      return isF64 ? f(std::complex<double>()) : f(std::complex<float>());
    return isF64 ? f(double{}) : f(float{});
  }
};

} // namespace octavo::program
