#include "python/bindings/Options.h"

#include "python/bindings/Errors.h"

#include <fmt/ranges.h>

#include <array>
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
  return choice("rounding", name, numerics::Rounding::Stochastic, numerics::roundingName);
}
numerics::Overflow overflow(const std::string& name) {
  return choice("overflow", name, numerics::Overflow::Special, numerics::overflowName);
}
numerics::NanCode nanCode(const std::string& name) {
  return choice("nan", name, numerics::NanCode::Maximum, numerics::nanCodeName);
}
numerics::NonFinite nonFinite(const std::string& name) {
  return choice("nan", name, numerics::NonFinite::SkipNan, numerics::nonFiniteName);
}
format::ScaleRule scaleRule(const std::string& name) {
  return choice("rule", name, format::ScaleRule::Nearest, format::scaleRuleName);
}

// Names of Fnuz.h's choices, which nothing but this module spells.
numerics::SpecialCodes specialCodes(const std::string& name) {
  using numerics::SpecialCodes;
  return choice<SpecialCodes>("special", name, SpecialCodes::Saturate, [](SpecialCodes codes) {
    return std::to_array<std::string_view>({"refuse", "nan", "saturate"})[std::size_t(codes)];
  });
}
numerics::NoTwin noTwin(const std::string& name) {
  using numerics::NoTwin;
  return choice<NoTwin>("no_twin", name, NoTwin::Requantize, [](NoTwin codes) {
    return std::to_array<std::string_view>(
        {"refuse", "saturate", "requantize"})[std::size_t(codes)];
  });
}
numerics::ScaleRange scaleRange(const std::string& name) {
  using numerics::ScaleRange;
  return choice<ScaleRange>("scale_range", name, ScaleRange::Saturate, [](ScaleRange range) {
    return std::to_array<std::string_view>({"refuse", "saturate"})[std::size_t(range)];
  });
}

} // namespace octavo::python
