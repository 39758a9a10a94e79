#include "python/bindings/Options.h"

#include "python/bindings/Errors.h"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace octavo::python {

namespace nb = nanobind;

std::int64_t integer(nb::handle object, std::string_view name) {
  if (!PyIndex_Check(object.ptr()))
    raise(ErrorClass::Dtype, "{}: expected an integer, found {}", name,
          nb::cast<std::string>(nb::repr(object)));
  const std::int64_t value = PyNumber_AsSsize_t(object.ptr(), nullptr);
  if (value == -1 && PyErr_Occurred())
    throw nb::python_error();
  return value;
}

double number(nb::handle object, std::string_view name) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value != -1 || !PyErr_Occurred())
    return value;
  PyErr_Clear();
  raise(ErrorClass::Dtype, "{}: expected a number, found {}", name,
        nb::cast<std::string>(nb::repr(object)));
}

std::string pathOf(nb::handle object, std::string_view name) {
  nb::object encoded;
  try {
    encoded = nb::module_::import_("os").attr("fsencode")(object);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError))
      throw;
    raise(ErrorClass::Dtype, "{}: expected a path (str, bytes or os.PathLike), found {}", name,
          nb::cast<std::string>(nb::repr(object)));
  }
  const auto bytes = nb::cast<nb::bytes>(encoded);
  std::string path(bytes.c_str(), bytes.size());
  if (path.find('\0') != std::string::npos)
    raise(ErrorClass::File, "{}: a path has no NUL character, found {}", name,
          nb::cast<std::string>(nb::repr(object)));
  return path;
}

/// The enumerator, from 0 to `last`, that has this name. Raises FormatError.
template <typename Enum>
static Enum choice(const char* argument, const std::string& name, Enum last,
                   std::string_view (*nameOf)(Enum)) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.push_back(nameOf(static_cast<Enum>(i)));
    if (names.back() == name)
      return static_cast<Enum>(i);
  }
  raise(ErrorClass::Format, "{}: unknown value \"{}\"; available: {}", argument, name,
        fmt::join(names, ", "));
}

numerics::Rounding rounding(const std::string& name) {
  return choice("rounding", name, numerics::Rounding::Stochastic, numerics::roundingName);
}
numerics::Overflow overflow(const std::string& name) {
  return choice("overflow", name, numerics::Overflow::Special, numerics::overflowName);
}
numerics::NanCode nanCode(const std::string& name) {
  return choice("nan", name, numerics::NanCode::Maximum, numerics::nanCodeName);
}
numerics::NonFinite nonFinite(const std::string& name) {
  return choice("non_finite", name, numerics::NonFinite::SkipNan, numerics::nonFiniteName);
}
format::ScaleRule scaleRule(const std::string& name) {
  return choice("rule", name, format::ScaleRule::Nearest, format::scaleRuleName);
}

// Names of choices that only this module has.
template <typename Enum, std::size_t N>
static Enum choice(const char* argument, const std::string& name,
                   const std::array<std::string_view, N>& names) {
  if (const auto found = std::ranges::find(names, name); found != names.end())
    return static_cast<Enum>(found - names.begin());
  raise(ErrorClass::Format, "{}: unknown value \"{}\"; available: {}", argument, name,
        fmt::join(names, ", "));
}

numerics::SpecialCodes specialCodes(const std::string& name) {
  return choice<numerics::SpecialCodes>(
      "special", name, std::to_array<std::string_view>({"refuse", "nan", "saturate"}));
}
numerics::NoTwin noTwin(const std::string& name) {
  return choice<numerics::NoTwin>(
      "no_twin", name, std::to_array<std::string_view>({"refuse", "saturate", "requantize"}));
}
numerics::ScaleRange scaleRange(const std::string& name) {
  return choice<numerics::ScaleRange>("scale_range", name,
                                      std::to_array<std::string_view>({"refuse", "saturate"}));
}
kernels::Activation activation(const std::string& name) {
  // Activation::None has no name: it is Python's None.
  constexpr auto first = static_cast<int>(kernels::Activation::Relu);
  return static_cast<kernels::Activation>(
      first +
      choice<int>("activation", name,
                  std::to_array<std::string_view>({"relu", "gelu-erf", "gelu-tanh", "silu"})));
}
numerics::AmaxChoice amaxChoice(const std::string& name) {
  return choice<numerics::AmaxChoice>("choice", name,
                                      std::to_array<std::string_view>({"max", "most-recent"}));
}
numerics::ZeroAmax zeroAmax(const std::string& name) {
  return choice<numerics::ZeroAmax>("zero_amax", name,
                                    std::to_array<std::string_view>({"roll", "keep"}));
}
numerics::CurrentScales currentScales(const std::string& name) {
  return choice<numerics::CurrentScales>("scales", name,
                                         std::to_array<std::string_view>({"all", "powers-of-two"}));
}

} // namespace octavo::python
