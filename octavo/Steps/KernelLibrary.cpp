#include "octavo/Steps/KernelLibrary.h"

#include <cmath>
#include <complex>
#include <cstring>

namespace octavo::steps {

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

template <typename T> constexpr const char* kType = nullptr;
template <> constexpr const char* kType<float> = "float";
template <> constexpr const char* kType<double> = "double";

template <typename T, typename... Arguments>
LibraryFunction row(const char* name, T (*function)(Arguments...)) {
  return {name, address(function), kType<T>, sizeof...(Arguments)};
}

} // namespace

std::span<const LibraryFunction> libraryFunctions() {
  static const LibraryFunction kFunctions[] = {
      row<double, double>("octavo_exp", std::exp),
      row<double, double>("octavo_expm1", std::expm1),
      row<double, double>("octavo_log", std::log),
      row<double, double>("octavo_log1p", std::log1p),
      row("octavo_logistic", logistic),
      row<double, double>("octavo_tanh", std::tanh),
      row<double, double>("octavo_sin", std::sin),
      row<double, double>("octavo_cos", std::cos),
      row<double, double>("octavo_tan", std::tan),
      row<double, double>("octavo_cbrt", std::cbrt),
      row<double, double, double>("octavo_pow", std::pow),
      row<double, double, double>("octavo_atan2", std::atan2),
      row<double, double>("octavo_erf", std::erf),
      row<double, double>("octavo_erfc", std::erfc),
      row<double, double>("octavo_acos", std::acos),
      row<double, double>("octavo_acosh", std::acosh),
      row<double, double>("octavo_asin", std::asin),
      row<double, double>("octavo_asinh", std::asinh),
      row<double, double>("octavo_atan", std::atan),
      row<double, double>("octavo_atanh", std::atanh),
      row<double, double>("octavo_cosh", std::cosh),
      row<double, double>("octavo_sinh", std::sinh),
      row<double, double, double>("octavo_hypot", std::hypot),
      row("octavo_quotient_real", realQuotient),
      row("octavo_quotient_imaginary", imaginaryQuotient),
      row<double, double, double>("octavo_fmod", std::fmod),
      row("octavo_fmodf", remainderOf),
      // What code generation itself calls.
      {"memcpy", address(std::memcpy), nullptr},
      {"memset", address(std::memset), nullptr},
      {"memmove", address(std::memmove), nullptr},
  };
  return kFunctions;
}

} // namespace octavo::steps
