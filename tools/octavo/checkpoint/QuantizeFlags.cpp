#include "tools/octavo/checkpoint/QuantizeFlags.h"

#include "tools/octavo/FormatNames.h"

#include "octavo/Checkpoint/Jobs/LayerPlan.h"
#include "octavo/Format/UnknownFormat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace octavo::tools {

namespace {

/// The names of presets of all formats, each once.
std::vector<std::string_view> presetNames() {
  std::vector<std::string_view> names;
  for (const numerics::Preset& preset : numerics::kPresets)
    if (std::ranges::find(names, preset.name) == names.end())
      names.push_back(preset.name);
  return names;
}

} // namespace

CLI::Option* addFormatOption(CLI::App& command, std::string& format, const std::string& help) {
  return command
      .add_option("--format", format,
                  fmt::format("{}: {}", help, fmt::join(scaledFormatNames(), ", ")))
      ->type_name("FORMAT");
}

void addQuantizeFlags(CLI::App& command, QuantizeFlags& flags) {
  CLI::Option* rule = command
                          .add_option("--rule", flags.rule,
                                      fmt::format("Scale rule of formats with E8M0 scales: {}",
                                                  fmt::join(scaleRuleNames(), ", ")))
                          ->type_name("RULE");
  command
      .add_option("--preset", flags.preset,
                  fmt::format("All settings of an owner, as its tools quantize: {}",
                              fmt::join(presetNames(), ", ")))
      ->type_name("OWNER")
      ->excludes(rule);
  command
      .add_option("--non-finite", flags.nonFinite,
                  fmt::format("What to do with NaN and infinities: {}",
                              fmt::join(numerics::nonFiniteNames(), ", ")))
      ->type_name("POLICY");
}

const numerics::Preset* presetOf(const QuantizeFlags& flags, const format::ScaledFormat& format) {
  if (flags.preset.empty())
    return nullptr;
  if (const numerics::Preset* preset = numerics::findPreset(flags.preset, format))
    return preset;
  std::vector<std::string> known;
  for (std::string_view name : numerics::presetNames(format))
    known.emplace_back(name);
  throw CommandError(unknownName(fmt::format("preset of {}", format.name), flags.preset, known),
                     ExitCode::BadUsage);
}

numerics::QuantizeOptions quantizeOptions(const QuantizeFlags& flags,
                                          const format::ScaledFormat& format) {
  numerics::QuantizeOptions options{.rule = format.rule};
  if (const numerics::Preset* preset = presetOf(flags, format))
    options = preset->options;
  if (!flags.rule.empty()) {
    const std::optional<format::ScaleRule> rule = format::findScaleRule(flags.rule);
    if (!rule)
      throw CommandError(unknownName("scale rule", flags.rule, scaleRuleNames()),
                         ExitCode::BadUsage);
    if (format.scale->specials != format::Specials::Scale && *rule != format.rule)
      throw CommandError(fmt::format("{} scales have the rule {}; --rule is for E8M0 scales",
                                     format.scale->name, format::scaleRuleName(format.rule)),
                         ExitCode::BadUsage);
    options.rule = *rule;
  }
  if (!flags.nonFinite.empty()) {
    const auto policy = numerics::findNonFinite(flags.nonFinite);
    if (!policy)
      throw CommandError(unknownName("policy", flags.nonFinite, numerics::nonFiniteNames()),
                         ExitCode::BadUsage);
    // A NaN or Inf in one block would make the outer scale NaN or Inf, and so all blocks.
    if (format.hasScaleOfTensor() && *policy != numerics::NonFinite::Error)
      throw CommandError(fmt::format("--non-finite {}: {} has a scale that all values of a tensor "
                                     "share, so they cannot do without finite values; --ignore "
                                     "leaves a tensor, or repair it",
                                     flags.nonFinite, format.name),
                         ExitCode::BadUsage);
    options.nonFinite = *policy;
  }
  return options;
}

checkpoint::Json toJson(const QuantizeFlags& flags) {
  return {{"rule", flags.rule}, {"preset", flags.preset}, {"non_finite", flags.nonFinite}};
}

const format::ScaledFormat& formatNamed(const std::string& name, const checkpoint::Layout& layout) {
  const format::ScaledFormat* format = format::scaledFormatCalled(name);
  if (format && layout.spelling(format->name))
    return *format;
  const std::vector<std::string_view> written =
      checkpoint::writtenFormats(layout, checkpoint::InputScale::Optional);
  const std::vector<std::string> known(written.begin(), written.end());
  if (known.empty())
    throw CommandError(fmt::format("layout {} has no quantized formats: octavo checkpoint layouts "
                                   "lists those of the others",
                                   layout.name()),
                       ExitCode::BadUsage);
  std::vector<std::string_view> others;
  for (const checkpoint::Layout* other : checkpoint::layouts())
    if (format && other->spelling(format->name))
      others.push_back(other->name());
  throw CommandError(
      fmt::format("layout {}: {}{}", layout.name(),
                  !format ? format::unknownFormat(name, known) : unknownName("format", name, known),
                  !format          ? ""
                  : others.empty() ? fmt::format("\n  no layout has {}", format->name)
                                   : fmt::format("\n  layouts with {}: {}", format->name,
                                                 fmt::join(others, ", "))),
      ExitCode::BadUsage);
}

} // namespace octavo::tools
