#include "octavo/Numerics/OptionNames.h"

#include "octavo/Numerics/Preset.h"

namespace octavo::numerics {

tl::expected<QuantizeOptions, std::string> optionsOf(const format::ScaledFormat& format,
                                                     const OptionNames& names) {
  QuantizeOptions options = {.rule = format.rule};
  if (!names.preset.empty()) {
    const Preset* preset = findPreset(names.preset, format);
    if (preset == nullptr)
      return tl::make_unexpected("preset without settings for " + std::string(format.name) +
                                 ", \"" + names.preset + "\"");
    options = preset->options;
  }
  std::string unknown;
  const auto choose = [&](const char* what, const std::string& name, auto find, auto& setting) {
    if (name.empty())
      return;
    if (const auto found = find(name))
      setting = *found;
    else if (unknown.empty())
      unknown = std::string("unknown ") + what + ", \"" + name + "\"";
  };
  choose("rule", names.rule, format::findScaleRule, options.rule);
  choose("rounding", names.rounding, findRounding, options.rounding);
  choose("overflow", names.overflow, findOverflow, options.overflow);
  choose("nan", names.nonFinite, findNonFinite, options.nonFinite);
  if (!unknown.empty())
    return tl::make_unexpected(unknown);
  return options;
}

} // namespace octavo::numerics
