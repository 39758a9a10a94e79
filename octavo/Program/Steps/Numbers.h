// What numbers a step computes on: real or complex ones, of f32 or f64.
#pragma once

#include <complex>
#include <cstdint>

namespace octavo::program {

struct Numbers {
  bool isComplex = false, isF64 = false;

  std::int64_t bytes() const { return (isF64 ? 8 : 4) * (isComplex ? 2 : 1); }
  /// Calls f with a number of the type.
  template <typename F> auto visit(const F& f) const {
    if (isComplex)
      return isF64 ? f(std::complex<double>()) : f(std::complex<float>());
    return isF64 ? f(double{}) : f(float{});
  }
};

} // namespace octavo::program
