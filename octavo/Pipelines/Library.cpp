#include "octavo/Pipelines/Library.h"

#include <cmath>
#include <complex>
#include <cstring>

namespace octavo::pipelines {

namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
float remainderOf(float x, float y) { return std::fmod(x, y); }

double realQuotient(double a, double b, double c, double d) {
  return (std::complex<double>(a, b) / std::complex<double>(c, d)).real();
}
double imaginaryQuotient(double a, double b, double c, double d) {
  return (std::complex<double>(a, b) / std::complex<double>(c, d)).imag();
}

template <typename Function> void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

} // namespace

std::span<const LibraryFunction> libraryFunctions() {
  static const LibraryFunction kFunctions[] = {
      {"octavo_exp", address<double(double)>(std::exp)},
      {"octavo_expm1", address<double(double)>(std::expm1)},
      {"octavo_log", address<double(double)>(std::log)},
      {"octavo_log1p", address<double(double)>(std::log1p)},
      {"octavo_logistic", address(logistic)},
      {"octavo_tanh", address<double(double)>(std::tanh)},
      {"octavo_sin", address<double(double)>(std::sin)},
      {"octavo_cos", address<double(double)>(std::cos)},
      {"octavo_tan", address<double(double)>(std::tan)},
      {"octavo_cbrt", address<double(double)>(std::cbrt)},
      {"octavo_pow", address<double(double, double)>(std::pow)},
      {"octavo_atan2", address<double(double, double)>(std::atan2)},
      {"octavo_erf", address<double(double)>(std::erf)},
      {"octavo_erfc", address<double(double)>(std::erfc)},
      {"octavo_acos", address<double(double)>(std::acos)},
      {"octavo_acosh", address<double(double)>(std::acosh)},
      {"octavo_asin", address<double(double)>(std::asin)},
      {"octavo_asinh", address<double(double)>(std::asinh)},
      {"octavo_atan", address<double(double)>(std::atan)},
      {"octavo_atanh", address<double(double)>(std::atanh)},
      {"octavo_cosh", address<double(double)>(std::cosh)},
      {"octavo_sinh", address<double(double)>(std::sinh)},
      {"octavo_hypot", address<double(double, double)>(std::hypot)},
      {"octavo_quotient_real", address(realQuotient)},
      {"octavo_quotient_imaginary", address(imaginaryQuotient)},
      {"octavo_fmod", address<double(double, double)>(std::fmod)},
      {"octavo_fmodf", address(remainderOf)},
      // What code generation itself calls.
      {"memcpy", address(std::memcpy)},
      {"memset", address(std::memset)},
      {"memmove", address(std::memmove)},
  };
  return kFunctions;
}

} // namespace octavo::pipelines
