#include "python/bindings/Options.h"

#include "python/bindings/Errors.h"

#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace octavo::python {

/// The choice of that name among those from 0 to `last`.
template <typename Enum>
static Enum choice(const char* argument, const std::string& name, Enum last,
                   std::string_view (*nameOf)(Enum)) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.push_back(nameOf(static_cast<Enum>(i)));
    if (names.back() == name)
      return static_cast<Enum>(i);
  }
  raise(ErrorClass::Format, "{}: no choice is named \"{}\"; there are {}", argument, name,
        fmt::join(names, ", "));
}

numerics::Rounding rounding(const std::string& name) {
  return choice("rounding", name, numerics::Rounding::TowardNegative, numerics::roundingName);
}
numerics::Overflow overflow(const std::string& name) {
  return choice("overflow", name, numerics::Overflow::Special, numerics::overflowName);
}
numerics::NanCode nanCode(const std::string& name) {
  return choice("nan", name, numerics::NanCode::Maximum, numerics::nanCodeName);
}
numerics::NonFinite nonFinite(const std::string& name) {
  return choice("nan", name, numerics::NonFinite::Saturate, numerics::nonFiniteName);
}
format::ScaleRule scaleRule(const std::string& name) {
  return choice("rule", name, format::ScaleRule::Nearest, format::scaleRuleName);
}

} // namespace octavo::python
