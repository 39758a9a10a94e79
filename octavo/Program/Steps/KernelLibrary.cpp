#include "octavo/Program/Steps/KernelLibrary.h"

#include "octavo/Numerics/ComplexFunctions.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace octavo::program {

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

// Complex functions, for parts of any type.
#define OCTAVO_COMPLEX(NAME, CALL)                                                                 \
  struct NAME {                                                                                    \
    template <typename... Numbers> static auto of(Numbers... x) { return CALL(x...); }             \
  }
OCTAVO_COMPLEX(Acos, std::acos);
OCTAVO_COMPLEX(Acosh, std::acosh);
OCTAVO_COMPLEX(ArcTangent, numerics::arcTangent);
OCTAVO_COMPLEX(Asin, std::asin);
OCTAVO_COMPLEX(Asinh, std::asinh);
OCTAVO_COMPLEX(Atan, std::atan);
OCTAVO_COMPLEX(Atanh, std::atanh);
OCTAVO_COMPLEX(Cos, std::cos);
OCTAVO_COMPLEX(Cosh, std::cosh);
OCTAVO_COMPLEX(CubeRoot, numerics::cubeRoot);
OCTAVO_COMPLEX(Exp, std::exp);
OCTAVO_COMPLEX(ExponentialMinusOne, numerics::exponentialMinusOne);
OCTAVO_COMPLEX(Log, std::log);
OCTAVO_COMPLEX(LogPlusOne, numerics::logPlusOne);
OCTAVO_COMPLEX(Logistic, numerics::logistic);
OCTAVO_COMPLEX(Power, numerics::power);
OCTAVO_COMPLEX(ReciprocalRoot, numerics::reciprocalRoot);
OCTAVO_COMPLEX(Sign, numerics::sign);
OCTAVO_COMPLEX(Sin, std::sin);
OCTAVO_COMPLEX(Sinh, std::sinh);
OCTAVO_COMPLEX(Sqrt, std::sqrt);
OCTAVO_COMPLEX(Square, numerics::square);
OCTAVO_COMPLEX(Tan, std::tan);
OCTAVO_COMPLEX(Tanh, std::tanh);
#undef OCTAVO_COMPLEX

/// One part of the result, computed with parts of type T.
template <typename Function, typename T> double realOf(double a, double b) {
  return static_cast<double>(Function::of(std::complex<T>(a, b)).real());
}
template <typename Function, typename T> double imaginaryOf(double a, double b) {
  return static_cast<double>(Function::of(std::complex<T>(a, b)).imag());
}
template <typename Function, typename T> double realOf(double a, double b, double c, double d) {
  return static_cast<double>(Function::of(std::complex<T>(a, b), std::complex<T>(c, d)).real());
}
template <typename Function, typename T>
double imaginaryOf(double a, double b, double c, double d) {
  return static_cast<double>(Function::of(std::complex<T>(a, b), std::complex<T>(c, d)).imag());
}

/// Rows for both parts, with f32 and f64 numbers. `Wide` is the type in which f64 is computed.
template <typename Function, typename Wide, typename... Parts>
void addComplex(std::vector<LibraryFunction>& rows, const std::string& name) {
  static std::deque<std::string> names;
  const auto add = [&](const char* suffix, double (*function)(Parts...)) {
    rows.push_back(row(names.emplace_back("octavo_complex_" + name + suffix).c_str(), function));
  };
  add("_f32_real", realOf<Function, double>);
  add("_f32_imaginary", imaginaryOf<Function, double>);
  add("_f64_real", realOf<Function, Wide>);
  add("_f64_imaginary", imaginaryOf<Function, Wide>);
}
template <typename Function>
void addUnary(std::vector<LibraryFunction>& rows, const std::string& name) {
  addComplex<Function, long double, double, double>(rows, name);
}
template <typename Function>
void addBinary(std::vector<LibraryFunction>& rows, const std::string& name) {
  addComplex<Function, long double, double, double, double, double>(rows, name);
}

std::vector<LibraryFunction> allFunctions() {
  std::vector<LibraryFunction> rows = {
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
      // Functions that LLVM's code generation calls by itself.
      {"memcpy", address(std::memcpy), nullptr},
      {"memset", address(std::memset), nullptr},
      {"memmove", address(std::memmove), nullptr},
  };
  addUnary<Acos>(rows, "acos");
  addUnary<Acosh>(rows, "acosh");
  addUnary<Asin>(rows, "asin");
  addUnary<Asinh>(rows, "asinh");
  addUnary<Atan>(rows, "atan");
  addUnary<Atanh>(rows, "atanh");
  addUnary<Cos>(rows, "cos");
  addUnary<Cosh>(rows, "cosh");
  addUnary<CubeRoot>(rows, "cbrt");
  addUnary<Exp>(rows, "exp");
  addUnary<ExponentialMinusOne>(rows, "expm1");
  addUnary<Log>(rows, "log");
  addUnary<LogPlusOne>(rows, "log1p");
  addUnary<Logistic>(rows, "logistic");
  addUnary<ReciprocalRoot>(rows, "rsqrt");
  addUnary<Sin>(rows, "sin");
  addUnary<Sinh>(rows, "sinh");
  addUnary<Sqrt>(rows, "sqrt");
  addUnary<Square>(rows, "square");
  addUnary<Tan>(rows, "tan");
  addUnary<Tanh>(rows, "tanh");
  addComplex<Sign, double, double, double>(rows, "sign");
  addBinary<ArcTangent>(rows, "atan2");
  addBinary<Power>(rows, "pow");
  return rows;
}

} // namespace

std::span<const LibraryFunction> libraryFunctions() {
  static const std::vector<LibraryFunction> kFunctions = allFunctions();
  return kFunctions;
}

} // namespace octavo::program
