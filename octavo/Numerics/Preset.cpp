#include "octavo/Numerics/Preset.h"

#include "octavo/Numerics/Scaled.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace octavo::numerics {

using format::Specials;

static_assert(std::ranges::all_of(kPresets,
                                  [](const Preset& preset) {
                                    return std::ranges::all_of(
                                        preset.formats, [](std::string_view name) {
                                          return name.empty() ||
                                                 std::ranges::count(format::kScaledFormats, name,
                                                                    &ScaledFormat::name) == 1;
                                        });
                                  }),
              "a preset names a scaled format that does not exist");
static constexpr bool isEachFoundOnce() {
  for (std::size_t i = 0; i < kPresets.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (kPresets[i].name == kPresets[j].name)
        for (std::string_view name : kPresets[i].formats)
          if (!name.empty() && std::ranges::count(kPresets[j].formats, name) != 0)
            return false;
  return true;
}
static_assert(isEachFoundOnce(), "a preset is found by its name and a scaled format");

std::span<const Preset> presets() { return kPresets; }

const Preset* findPreset(std::string_view name, const ScaledFormat& format) {
  const auto row = std::ranges::find_if(kPresets, [&](const Preset& preset) {
    return preset.name == name && preset.appliesTo(format);
  });
  return row == kPresets.end() ? nullptr : &*row;
}

std::vector<std::string_view> presetNames(const ScaledFormat& format) {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets)
    if (preset.appliesTo(format))
      names.push_back(preset.name);
  return names;
}

std::optional<RefusedAxis> refusedAxis(const Preset& preset, const ScaledFormat& format,
                                       std::span<const std::int64_t> shape, int contracted) {
  if (preset.ragged != RaggedEdge::Refused)
    return std::nullopt;
  // The blocks of a large tensor: blockShape limits a block to the extents of the tensor.
  constexpr std::int64_t kRoom = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> room(shape.size(), kRoom);
  const std::vector<std::int64_t> block = format::blockShape(format, room, contracted);
  for (std::size_t axis = shape.size(); axis-- > 0;)
    if (block[axis] != kRoom && shape[axis] % block[axis] != 0)
      return RefusedAxis{axis, block[axis]};
  return std::nullopt;
}

template <typename Enum> using NamesOf = std::initializer_list<std::pair<Enum, std::string_view>>;

template <typename Enum> static std::string nameIn(NamesOf<Enum> names, Enum value) {
  return std::string(
      std::ranges::find(names, value, &std::pair<Enum, std::string_view>::first)->second);
}

static std::string_view raggedEdgeName(RaggedEdge ragged) {
  switch (ragged) {
  case RaggedEdge::ShortBlock:
    return "short block";
  case RaggedEdge::ZeroPadded:
    return "padded with zeros";
  case RaggedEdge::Refused:
    return "refused";
  }
  return {};
}

static std::string ratioText(const QuantizeOptions& options, const ScaledFormat& format) {
  const bool usesRule =
      format.scale->specials == Specials::Scale || options.scaleValues == ScaleValues::PowersOfTwo;
  const bool roundsUp = usesRule && options.rule == ScaleRule::RoundUp;
  const bool converts = usesRule && options.rule == ScaleRule::Nearest;
  if (usesRule && !roundsUp && !(converts && options.ratio == BlockRatio::Quotient))
    return options.exponent == ExponentForm::Log2 && !converts && options.rule != ScaleRule::Even
               ? "log2 of amax"
               : "on the bits of amax";
  const std::string_view log2 =
      roundsUp && options.exponent == ExponentForm::Log2 ? "log2 of " : "";
  if (options.ratio == BlockRatio::Standard)
    return std::string(log2) + (roundsUp               ? "amax * (1 / max)"
                                : format.hasOuterScale ? "amax / max / outer"
                                                       : "amax / max");
  return std::string(log2) +
         nameIn<BlockRatio>({{BlockRatio::Quotient, "amax / max"},
                             {BlockRatio::JointQuotient, "amax / (max * outer)"},
                             {BlockRatio::OuterFirst, "amax / outer / max"},
                             {BlockRatio::InverseLast, "amax / max * g"},
                             {BlockRatio::InverseFirst, "amax * (g * (1 / max))"},
                             {BlockRatio::Inverted, "1 / (max / amax)"}},
                            options.ratio);
}

static std::string outerText(const QuantizeOptions& options, const ScaledFormat& format) {
  if (!format.hasOuterScale)
    return "none";
  return nameIn<OuterForm>({{OuterForm::Quotient, "amax / p"},
                            {OuterForm::Inverse, "1 / g, g = p / amax"},
                            {OuterForm::InverseOfReciprocal, "1 / g, g = (1 / amax) * p"},
                            {OuterForm::One, "1"}},
                           options.outer);
}

static std::string quotientText(const QuantizeOptions& options, const ScaledFormat& format) {
  if (format.scale->specials == Specials::Scale && !format.hasOuterScale)
    return "x / s, exact";
  if (options.quotient == QuotientForm::Divided)
    return format.hasOuterScale ? "x / (s * outer)" : "x / s";
  return nameIn<QuotientForm>({{QuotientForm::DividedByQuotient, "x / (s / g)"},
                               {QuotientForm::Successive, "x / outer / s"},
                               {QuotientForm::TimesInverse, "x * (1 / (s * (1 / g)))"},
                               {QuotientForm::TimesQuotient, "x * (1 / outer / s)"},
                               {QuotientForm::TimesInverted, "x * (max / amax)"}},
                              options.quotient);
}

/// The steps of the format that are computed in the input's type.
static std::string inputArithmeticText(const QuantizeOptions& options, const ScaledFormat& format) {
  std::string text;
  const auto add = [&](bool is, std::string_view step) {
    if (is)
      text += (text.empty() ? "" : ", ") + std::string(step);
  };
  add(options.inInputType.outer && format.hasOuterScale, "outer scale");
  add(options.inInputType.ratio, format.hasOuterScale && options.ratio == BlockRatio::InverseLast
                                     ? "amax / max"
                                 : options.exponent == ExponentForm::Log2 ? "log2 of amax"
                                                                          : "scale");
  add(options.inInputType.quotient, "quotient");
  return text.empty() ? "nothing" : text;
}

/// "0x7F (2^0)", "0x20 (0.125)", "NaN".
static std::string codeText(const ElementFormat& scale, std::uint32_t code) {
  const double value = decode(scale, code);
  if (std::isnan(value))
    return "NaN";
  char text[48];
  if (scale.specials == Specials::Scale)
    std::snprintf(text, sizeof(text), "0x%02X (2^%d)", code, static_cast<int>(code) - scale.bias);
  else if (scale.isNarrow())
    std::snprintf(text, sizeof(text), "0x%02X (%g)", code, value);
  else
    std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::vector<Setting> settings(const Preset& preset, const ScaledFormat& format) {
  const QuantizeOptions& options = preset.options;
  const ElementFormat& scale = *format.scale;
  const bool isPower = scale.specials == Specials::Scale;
  const bool usesRule = isPower || options.scaleValues == ScaleValues::PowersOfTwo;
  const ScaleCorners& corners = options.corners;
  const CornerCodes codes = cornerCodes(scale, options);
  constexpr std::string_view kEpsilon = "epsilon of the input's type";
  const bool propagates =
      options.nonFinite == NonFinite::Propagate || options.nonFinite == NonFinite::Saturate;
  char floorText[24];
  std::snprintf(floorText, sizeof(floorText), "%g", static_cast<double>(options.leastAmax));

  std::vector<Setting> rows;
  rows.push_back(
      {"rule", std::string(format::scaleRuleName(usesRule ? options.rule : ScaleRule::Nearest))});
  if (usesRule && options.rule == ScaleRule::Even)
    rows.push_back({"even to bits",
                    std::to_string(options.evenBits.value_or(static_cast<std::uint8_t>(
                        format.element->trailingSignificandBits - format.element->isInteger())))});
  if (!isPower)
    rows.push_back({"scale values", usesRule ? "powers of two" : "all"});
  rows.push_back({"scale from", ratioText(options, format)});
  rows.push_back({"outer scale", outerText(options, format)});
  rows.push_back({"least amax", options.leastAmax > 0 ? floorText : "none"});
  rows.push_back({"zero block", options.leastAmax > 0 && !corners.zero ? "as least amax"
                                : corners.inputEpsilon ? std::string(kEpsilon)
                                                       : codeText(scale, codes.zero)});
  rows.push_back({"least scale", codeText(scale, codes.least)});
  if (!usesRule)
    rows.push_back({"scale rounded to 0", corners.inputEpsilon ? std::string(kEpsilon)
                                          : corners.underflow  ? codeText(scale, codes.underflow)
                                                               : "least scale"});
  if (usesRule && options.rule == ScaleRule::Even)
    rows.push_back(
        {"amax past f32", codes.pastRange ? codeText(scale, *codes.pastRange) : "as the rule"});
  const bool isError = options.nonFinite == NonFinite::Error;
  rows.push_back({"NaN", isError                                   ? "refused"
                         : options.nonFinite == NonFinite::SkipNan ? "not counted"
                         : corners.nan                             ? codeText(scale, *codes.nan)
                         : propagates                              ? "NaN"
                                                                   : ""});
  rows.push_back({"Inf", isError            ? "refused"
                         : corners.infinite ? codeText(scale, *codes.infinite)
                         : options.nonFinite == NonFinite::Propagate ? "NaN"
                                                                     : "as the largest f32"});
  rows.push_back({"value", quotientText(options, format)});
  rows.push_back({"rounding", std::string(roundingName(options.rounding))});
  rows.push_back({"overflow", std::string(overflowName(options.overflow))});
  rows.push_back({"zero", nameIn<ZeroSign>({{ZeroSign::Kept, "keeps its sign"},
                                            {ZeroSign::Positive, "+0"},
                                            {ZeroSign::Negative, "-0"},
                                            {ZeroSign::PositiveRounded, "+0, rounded ones too"}},
                                           options.zeroSign)});
  rows.push_back({"in input type", inputArithmeticText(options, format)});
  if (format.element->isInteger())
    rows.push_back({"lowest code", options.int8 == Int8Range::Symmetric ? "never" : "produced"});
  rows.push_back({"ragged edge", std::string(raggedEdgeName(preset.ragged))});
  return rows;
}

std::vector<PresetOnFormats> presetsOnFormats() {
  std::vector<PresetOnFormats> rows;
  for (const Preset& preset : kPresets) {
    const std::size_t first = rows.size();
    for (const ScaledFormat& format : format::kScaledFormats) {
      if (!preset.appliesTo(format))
        continue;
      std::vector<Setting> own = settings(preset, format);
      const auto alike = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                      [&](const auto& row) { return row.settings == own; });
      if (alike != rows.end())
        alike->formats.push_back(&format);
      else
        rows.push_back({&preset, {&format}, std::move(own)});
    }
  }
  return rows;
}

} // namespace octavo::numerics
