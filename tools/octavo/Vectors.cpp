// octavo vectors: prints test vectors of one format for another implementation, such as RTL: every
// code with its value, roundings of f32, quantized blocks (docs/commands/vectors.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Paths.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Format/UnknownFormat.h"
#include "octavo/Numerics/OptionNames.h"
#include "octavo/Numerics/Philox.h"
#include "octavo/Numerics/Scaled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace octavo::tools {

namespace {

using format::ElementFormat;
using format::ScaledFormat;
using Json = nlohmann::ordered_json;

struct VectorsOptions {
  std::string format, rounding, overflow, rule, preset;
  int blocks = 16;
  std::uint64_t seed = 0;
  bool json = false;
};

/// A table of texts, header first. No cell has a comma, so it can be printed as CSV.
using Rows = std::vector<std::vector<std::string>>;

std::string codeText(const ElementFormat& format, std::uint64_t code) {
  return fmt::format("0x{:0{}X}", code, (format.width() + 3) / 4);
}

std::string bitsText(float value) {
  return fmt::format("0x{:08X}", std::bit_cast<std::uint32_t>(value));
}

/// The shortest decimal text that gives the same f64. The sign of NaN is omitted.
std::string decodedText(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string asCsv(const Rows& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows)
    text += fmt::format("{}\n", fmt::join(row, ","));
  return text;
}

/// A list of objects, with the names of the header as keys.
std::string asJson(const Rows& rows) {
  Json list = Json::array();
  for (std::size_t row = 1; row < rows.size(); ++row) {
    Json object = Json::object();
    for (std::size_t column = 0; column < rows.front().size(); ++column)
      object[rows.front()[column]] = rows[row][column];
    list.push_back(std::move(object));
  }
  return list.dump(1) + "\n";
}

Rows everyCode(const ElementFormat& format) {
  Rows rows = {{"code", "value"}};
  for (std::uint64_t code = 0; code < std::uint64_t{1} << format.width(); ++code)
    rows.push_back({codeText(format, code), decodedText(numerics::decode(format, code))});
  return rows;
}

/// Values of f32 at which a conversion to `format` can go wrong, each with both signs: both ends
/// and the midpoint of each pair of neighbouring values, and the adjacent f32 on either side; the
/// same above the largest value; the corners of f32.
std::vector<float> roundingInputs(const ElementFormat& format) {
  std::vector<double> values;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << format.width(); ++code)
    if (const double value = numerics::decode(format, code); std::isfinite(value) && value >= 0)
      values.push_back(value);
  std::ranges::sort(values);
  const auto last = std::ranges::unique(values).begin();
  values.erase(last, values.end());
  // Above the largest value, neighbours as if the exponent range went on.
  const double step = values.back() - values[values.size() - 2];
  values.push_back(values.back() + step);
  values.push_back(values.back() + step);

  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> inputs = {0.0f, std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::min(), std::numeric_limits<float>::max(),
                               kInfinity};
  const auto addAround = [&](double exact) {
    const auto value = static_cast<float>(exact);
    for (float near : {std::nextafter(value, -kInfinity), value, std::nextafter(value, kInfinity)})
      if (near >= 0)
        inputs.push_back(near);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    addAround(values[i]);
    if (i + 1 < values.size())
      addAround((values[i] + values[i + 1]) / 2);
  }
  std::ranges::sort(inputs);
  inputs.erase(std::ranges::unique(inputs).begin(), inputs.end());
  inputs.push_back(std::numeric_limits<float>::quiet_NaN());
  const std::size_t positive = inputs.size();
  for (std::size_t i = 0; i < positive; ++i)
    inputs.push_back(-inputs[i]);
  return inputs;
}

Rows roundings(const ElementFormat& format, const numerics::Conversion& conversion) {
  const bool isStochastic = conversion.rounding == numerics::Rounding::Stochastic;
  Rows rows = {{"input", "value", "code"}};
  if (isStochastic)
    rows.front().insert(rows.front().begin() + 2, "random");
  constexpr std::uint32_t kRandom[] = {0, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  for (float input : roundingInputs(format))
    for (std::uint32_t random : std::span(kRandom).first(isStochastic ? 5 : 1)) {
      numerics::Conversion one = conversion;
      one.randomBits = random;
      rows.push_back({bitsText(input), decodedText(input),
                      codeText(format, numerics::convert(format, input, one))});
      if (isStochastic)
        rows.back().insert(rows.back().begin() + 2, fmt::format("0x{:08X}", random));
    }
  return rows;
}

/// Blocks of random values; the first few are corner cases. Values of a block are within a factor
/// of 2^8 of its largest, and blocks within 2^24 of one another.
std::vector<float> blockInputs(std::int64_t blocks, std::int64_t size, std::uint64_t seed) {
  std::vector<float> values;
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t i = 0; i < size; ++i) {
      const numerics::PhiloxCounter random =
          numerics::RandomStream{seed, 0}.four(static_cast<std::uint64_t>(block * size + i));
      const std::uint32_t shared =
          numerics::RandomStream{seed, 1}[static_cast<std::uint64_t>(block)];
      const int exponent = static_cast<int>(shared % 25) - 12 - static_cast<int>(random[1] % 9);
      const float significand = 1.0f + static_cast<float>(random[0] >> 9) * 0x1p-23f;
      float value = std::ldexp(random[2] & 1 ? -significand : significand, exponent);
      if (block == 0)
        value = 0; // a block of zeros
      else if (block == 1)
        value = std::ldexp(value, -140); // a block of subnormals of f32
      else if (block == 2)
        value = i == 0 ? 1.0f : std::copysign(0.0f, value); // zeros of both signs
      values.push_back(value);
    }
  return values;
}

Rows quantizedBlocks(const ScaledFormat& format, const VectorsOptions& options) {
  if (format.across != 1 || format.along == format::kWholeAxis)
    throw CommandError(
        fmt::format("{} has one scale for a row, a tensor or a square: vectors are written of "
                    "formats whose blocks lie in a row, such as mxfp4 and nvfp4",
                    format.name),
        ExitCode::BadUsage);
  const auto settings = numerics::optionsOf(format, {.preset = options.preset,
                                                     .rule = options.rule,
                                                     .rounding = options.rounding,
                                                     .overflow = options.overflow,
                                                     .nonFinite = ""});
  if (!settings)
    throw CommandError(settings.error(), ExitCode::BadUsage);
  if (settings->rounding == numerics::Rounding::Stochastic)
    throw CommandError("blocks are not rounded stochastically here: name an element format, such "
                       "as e2m1fn, whose vectors have a column of random numbers",
                       ExitCode::BadUsage);
  const std::int64_t shape[] = {options.blocks, format.along};
  const std::vector<float> values = blockInputs(options.blocks, format.along, options.seed);
  const numerics::QuantizeResult result = numerics::quantize(
      values, shape, {format.element, format.scale, {1, format.along}, format.hasOuterScale},
      *settings);

  Rows rows = {{"inputs", "scale", "elements"}};
  if (format.hasOuterScale)
    rows.front().insert(rows.front().begin() + 1, "outer");
  for (std::int64_t block = 0; block < options.blocks; ++block) {
    std::vector<std::string> inputs, elements;
    for (std::int64_t i = block * format.along; i < (block + 1) * format.along; ++i) {
      inputs.push_back(bitsText(values[static_cast<std::size_t>(i)]));
      elements.push_back(
          codeText(*format.element, result.tensor.elements[static_cast<std::size_t>(i)]));
    }
    rows.push_back({fmt::format("{}", fmt::join(inputs, " ")),
                    codeText(*format.scale, result.tensor.scales[static_cast<std::size_t>(block)]),
                    fmt::format("{}", fmt::join(elements, " "))});
    if (format.hasOuterScale)
      rows.back().insert(rows.back().begin() + 1, bitsText(result.tensor.outer));
  }
  return rows;
}

/// The names that `name` gives, in the order of the enumeration.
template <typename Enum>
std::vector<std::string> namesTo(Enum last, std::string_view (*name)(Enum)) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i)
    names.emplace_back(name(static_cast<Enum>(i)));
  return names;
}

numerics::Conversion conversionOf(const VectorsOptions& options) {
  numerics::Conversion conversion;
  if (!options.rounding.empty()) {
    const auto rounding = numerics::findRounding(options.rounding);
    if (!rounding)
      throw CommandError(
          unknownName("rounding", options.rounding,
                      namesTo(numerics::Rounding::Stochastic, numerics::roundingName)),
          ExitCode::BadUsage);
    conversion.rounding = *rounding;
  }
  if (!options.overflow.empty()) {
    const auto overflow = numerics::findOverflow(options.overflow);
    if (!overflow)
      throw CommandError(unknownName("overflow", options.overflow,
                                     namesTo(numerics::Overflow::Special, numerics::overflowName)),
                         ExitCode::BadUsage);
    conversion.overflow = *overflow;
  }
  return conversion;
}

Rows chosenVectors(const VectorsOptions& options) {
  if (const ScaledFormat* scaled = format::scaledFormatCalled(options.format))
    return quantizedBlocks(*scaled, options);
  const ElementFormat* element = format::findElementFormat(options.format);
  if (!element) {
    std::vector<std::string> known = base::namesOf(format::kElementFormats);
    std::ranges::copy(scaledFormatNames(), std::back_inserter(known));
    throw CommandError(unknownName("format", options.format, known), ExitCode::BadUsage);
  }
  if (element->width() > 16)
    throw CommandError(fmt::format("{} has 2^{} codes: vectors are written of formats of at most "
                                   "16 bits",
                                   element->name, element->width()),
                       ExitCode::BadUsage);
  if (!options.rule.empty() || !options.preset.empty())
    throw CommandError(fmt::format("--rule and --preset choose the scale of a block, and {} is an "
                                   "element format: name a scaled format, such as mxfp4",
                                   element->name),
                       ExitCode::BadUsage);
  if (options.rounding.empty() && options.overflow.empty())
    return everyCode(*element);
  return roundings(*element, conversionOf(options));
}

} // namespace

void addVectorsCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "vectors", "Print test vectors: every code of a format, roundings, quantized blocks");
  auto options = std::make_shared<VectorsOptions>();
  takesNoPath(command->add_option("format", options->format,
                                  "An element format (e4m3fn) or a scaled format (mxfp4)"))
      ->required();
  takesNoPath(command->add_option(
      "--rounding", options->rounding,
      fmt::format(
          "Rounding of elements: {}",
          fmt::join(namesTo(numerics::Rounding::Stochastic, numerics::roundingName), ", "))));
  takesNoPath(command->add_option("--overflow", options->overflow,
                                  "What is beyond the largest value becomes: saturate, special"));
  takesNoPath(command->add_option(
      "--rule", options->rule,
      fmt::format("Scale rule of blocks: {}", fmt::join(scaleRuleNames(), ", "))));
  takesNoPath(command->add_option("--preset", options->preset,
                                  "Quantize blocks as a library does (octavo presets)"));
  command->add_option("--blocks", options->blocks, "Number of blocks, 1 to 1000000")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the values in blocks")->capture_default_str();
  command->add_flag("--json", options->json, "As JSON");
  command->footer("Examples:\n"
                  "  octavo vectors e4m3fn\n"
                  "  octavo vectors e4m3fn --rounding ties-to-even --overflow saturate\n"
                  "  octavo vectors mxfp4 --rule floor --blocks 1000 --json");
  command->callback([options] {
    const Rows rows = chosenVectors(*options);
    printText(options->json ? asJson(rows) : asCsv(rows));
  });
}

} // namespace octavo::tools
