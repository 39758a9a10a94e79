// #octavo.quantization: reading and printing. The text is the name of a preset, or a key for each
// setting of numerics::QuantizeOptions.
#include "octavo/Dialect/Octavo/Assembly.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/OptionText.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace octavo::ir {

using numerics::QuantizeOptions;

namespace {

std::string_view scaleValuesName(numerics::ScaleValues values) {
  return std::array{"all", "powers-of-two"}[static_cast<int>(values)];
}
std::string_view blockRatioName(numerics::BlockRatio ratio) {
  return std::array{"standard",     "quotient",      "joint-quotient", "outer-first",
                    "inverse-last", "inverse-first", "inverted"}[static_cast<int>(ratio)];
}
std::string_view exponentFormName(numerics::ExponentForm form) {
  return form == numerics::ExponentForm::Bits ? "bits" : "log2";
}
std::string_view outerFormName(numerics::OuterForm form) {
  return std::array{"quotient", "inverse", "inverse-of-reciprocal", "one"}[static_cast<int>(form)];
}
std::string_view quotientFormName(numerics::QuotientForm form) {
  return std::array{
      "divided",       "divided-by-quotient", "successive",
      "times-inverse", "times-quotient",      "times-inverted"}[static_cast<int>(form)];
}
std::string_view zeroSignName(numerics::ZeroSign sign) {
  return std::array{"kept", "positive", "negative", "positive-rounded"}[static_cast<int>(sign)];
}
std::string_view int8RangeName(numerics::Int8Range range) {
  return range == numerics::Int8Range::Symmetric ? "symmetric" : "full";
}

constexpr int kNonFinites = static_cast<int>(numerics::NonFinite::SkipNan) + 1;

/// A number of bits, at most that of an f32's significand.
struct BitsText {
  static mlir::ParseResult parse(mlir::AsmParser& parser, llvm::StringRef key,
                                 std::optional<std::uint8_t>& bits) {
    const llvm::SMLoc location = parser.getCurrentLocation();
    std::uint64_t value = 0;
    if (parser.parseInteger(value))
      return mlir::failure();
    if (value > 22)
      return parser.emitError(location) << "'" << key << "' must be at most 22";
    bits = static_cast<std::uint8_t>(value);
    return mlir::success();
  }
  static void print(llvm::raw_ostream& out, std::optional<std::uint8_t> bits) {
    out << unsigned{*bits};
  }
};

struct BooleanText {
  static mlir::ParseResult parse(mlir::AsmParser& parser, llvm::StringRef, bool& value) {
    std::string word;
    if (parser.parseKeywordOrString(&word))
      return mlir::failure();
    if (word != "true" && word != "false")
      return parser.emitError(parser.getCurrentLocation(), "expected true or false");
    value = word == "true";
    return mlir::success();
  }
  static void print(llvm::raw_ostream& out, bool value) { out << (value ? "true" : "false"); }
};

/// An f32: its shortest decimal text, or its bits if it is not finite.
struct NumberText {
  static mlir::ParseResult parseNumber(mlir::AsmParser& parser, float& value) {
    llvm::APFloat parsed(0.0f);
    if (parser.parseFloat(llvm::APFloat::IEEEsingle(), parsed))
      return mlir::failure();
    value = parsed.convertToFloat();
    return mlir::success();
  }
  static void print(llvm::raw_ostream& out, float value) {
    if (!std::isfinite(value)) {
      out << llvm::format_hex(std::bit_cast<std::uint32_t>(value), 10, /*Upper=*/true);
      return;
    }
    // The parser reads a decimal as an f64 and rounds that to f32.
    std::string text = shortest(value);
    double parsed = 0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (static_cast<float>(parsed) != value)
      text = shortest(static_cast<double>(value));
    // MLIR's floats need a decimal point.
    const auto [significand, exponent] = llvm::StringRef(text).split('e');
    out << significand << (significand.contains('.') ? "" : ".0") << 'e' << exponent;
  }

private:
  template <typename Float> static std::string shortest(Float value) {
    char text[32];
    const auto end =
        std::to_chars(std::begin(text), std::end(text), value, std::chars_format::scientific);
    return {text, end.ptr};
  }
};

/// A fixed scale, which replaces the scale rule.
struct ScaleText {
  static mlir::ParseResult parse(mlir::AsmParser& parser, llvm::StringRef,
                                 std::optional<numerics::GivenScale>& scale) {
    return NumberText::parseNumber(parser, scale.emplace(numerics::GivenScale{0}).value);
  }
  static void print(llvm::raw_ostream& out, std::optional<numerics::GivenScale> scale) {
    NumberText::print(out, scale->value);
  }
};

/// A finite f32 that is not negative.
struct AmaxText {
  static mlir::ParseResult parse(mlir::AsmParser& parser, llvm::StringRef key, float& amax) {
    const llvm::SMLoc location = parser.getCurrentLocation();
    if (NumberText::parseNumber(parser, amax))
      return mlir::failure();
    if (!(amax >= 0) || std::isinf(amax))
      return parser.emitError(location) << "'" << key << "' must be a finite f32, 0 or more";
    return mlir::success();
  }
  static void print(llvm::raw_ostream& out, float amax) { NumberText::print(out, amax); }
};

/// The same, optional.
struct GivenAmaxText {
  static mlir::ParseResult parse(mlir::AsmParser& parser, llvm::StringRef key,
                                 std::optional<float>& amax) {
    return AmaxText::parse(parser, key, amax.emplace());
  }
  static void print(llvm::raw_ostream& out, std::optional<float> amax) {
    NumberText::print(out, *amax);
  }
};

#define OCTAVO_AT(member) [](auto& options) -> auto& { return options.member; }

constexpr llvm::StringLiteral kRule = "rule";

constexpr auto kQuantizationKeys = std::to_array<Key<QuantizeOptions>>({
    key<QuantizeOptions>(
        kRule, OCTAVO_AT(rule),
        ChoiceText<format::scaleRuleName, static_cast<int>(format::kScaleRules.size())>{}),
    key<QuantizeOptions>("rounding", OCTAVO_AT(rounding), RoundingText{}),
    key<QuantizeOptions>("overflow", OCTAVO_AT(overflow), OverflowText{}),
    key<QuantizeOptions>("non_finite", OCTAVO_AT(nonFinite),
                         ChoiceText<numerics::nonFiniteName, kNonFinites>{}),
    key<QuantizeOptions>("int8", OCTAVO_AT(int8), ChoiceText<int8RangeName, 2>{}),
    key<QuantizeOptions>("zero_block", OCTAVO_AT(corners.zero), ScaleText{}),
    key<QuantizeOptions>("nan_block", OCTAVO_AT(corners.nan), ScaleText{}),
    key<QuantizeOptions>("inf_block", OCTAVO_AT(corners.infinite), ScaleText{}),
    key<QuantizeOptions>("past_range", OCTAVO_AT(corners.pastRange), ScaleText{}),
    key<QuantizeOptions>("underflow", OCTAVO_AT(corners.underflow), ScaleText{}),
    key<QuantizeOptions>("least_scale", OCTAVO_AT(corners.least), ScaleText{}),
    key<QuantizeOptions>("input_epsilon", OCTAVO_AT(corners.inputEpsilon), BooleanText{}),
    key<QuantizeOptions>("even_bits", OCTAVO_AT(evenBits), BitsText{}),
    key<QuantizeOptions>("least_amax", OCTAVO_AT(leastAmax), AmaxText{}),
    key<QuantizeOptions>("amax", OCTAVO_AT(amax), GivenAmaxText{}),
    key<QuantizeOptions>("scale_values", OCTAVO_AT(scaleValues), ChoiceText<scaleValuesName, 2>{}),
    key<QuantizeOptions>("ratio", OCTAVO_AT(ratio), ChoiceText<blockRatioName, 7>{}),
    key<QuantizeOptions>("exponent", OCTAVO_AT(exponent), ChoiceText<exponentFormName, 2>{}),
    key<QuantizeOptions>("outer", OCTAVO_AT(outer), ChoiceText<outerFormName, 4>{}),
    key<QuantizeOptions>("quotient", OCTAVO_AT(quotient), ChoiceText<quotientFormName, 6>{}),
    key<QuantizeOptions>("zero_sign", OCTAVO_AT(zeroSign), ChoiceText<zeroSignName, 4>{}),
    key<QuantizeOptions>("ratio_in_input_type", OCTAVO_AT(inInputType.ratio), BooleanText{}),
    key<QuantizeOptions>("outer_in_input_type", OCTAVO_AT(inInputType.outer), BooleanText{}),
    key<QuantizeOptions>("quotient_in_input_type", OCTAVO_AT(inInputType.quotient), BooleanText{}),
});

#undef OCTAVO_AT

/// Reads `preset = "name"` if it comes next. Sets `isThere`.
mlir::ParseResult parsePreset(mlir::AsmParser& parser, bool& isThere, std::string& name) {
  isThere = succeeded(parser.parseOptionalKeyword("preset"));
  if (!isThere)
    return mlir::success();
  if (parser.parseEqual())
    return mlir::failure();
  const llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return mlir::failure();
  if (name.empty())
    return parser.emitError(location, "expected the name of a preset");
  return mlir::success();
}

mlir::ParseResult requireRule(mlir::AsmParser& parser, llvm::SMLoc location, unsigned seen) {
  if (seen & 1)
    return mlir::success();
  auto diagnostic = parser.emitError(location) << "expected 'preset = \"...\"', or 'rule = ...', "
                                                  "one of ";
  llvm::interleaveComma(format::kScaleRules, diagnostic,
                        [&](const auto& row) { diagnostic << llvm::StringRef(row.name); });
  return diagnostic;
}

llvm::SmallVector<std::string> textOf(QuantizationAttr attribute) {
  if (const llvm::StringRef preset = attribute.getPreset(); !preset.empty()) {
    std::string text = "preset = \"";
    llvm::raw_string_ostream out(text);
    llvm::printEscapedString(preset, out);
    out << '"';
    return {text};
  }
  return keysText<QuantizeOptions>(kQuantizationKeys, attribute.getSettings().options, {}, kRule);
}

/// A scaled format that fits a scaled type in elements, scales and block, and the axis along which
/// the blocks lie.
struct FormatOfType {
  const format::ScaledFormat* format;
  int contracted;
};
llvm::SmallVector<FormatOfType> formatsOf(ScaledType type) {
  llvm::SmallVector<FormatOfType> found;
  for (const format::ScaledFormat& row : format::kScaledFormats) {
    if (row.element != type.getElement() || row.scale != type.getScale() ||
        row.hasOuterScale != type.getHasOuterScale())
      continue;
    for (int axis = static_cast<int>(type.getRank()); axis-- > 0;)
      if (llvm::ArrayRef(ScaledType::blockOf(row, type.getShape(), axis)) == type.getBlock()) {
        found.push_back({&row, axis});
        break;
      }
  }
  return found;
}

/// The preset's row for the first scaled format of `type` that the preset has, and that format.
std::pair<const numerics::Preset*, FormatOfType> presetFor(llvm::StringRef name, ScaledType type) {
  for (const FormatOfType& candidate : formatsOf(type))
    if (const auto* preset = numerics::findPreset({name.data(), name.size()}, *candidate.format))
      return {preset, candidate};
  return {nullptr, {}};
}

} // namespace

llvm::hash_code hash_value(const QuantizationSettings& settings) {
  const QuantizeOptions& options = settings.options;
  return llvm::hash_combine(options.rule, options.rounding, options.nonFinite, options.ratio,
                            options.quotient, options.corners.zero.has_value(),
                            std::bit_cast<std::uint32_t>(options.amax.value_or(-1.0f)));
}

mlir::Attribute QuantizationAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  std::string preset;
  QuantizeOptions options;
  unsigned seen = 0;
  const auto element = [&]() -> mlir::ParseResult {
    if (!preset.empty())
      return parser.emitError(parser.getCurrentLocation(),
                              "a preset says everything: expected no setting beside it");
    bool isPreset = false;
    if (seen == 0 && parsePreset(parser, isPreset, preset))
      return mlir::failure();
    if (isPreset)
      return mlir::success();
    return parseKey<QuantizeOptions>(parser, kQuantizationKeys, options, seen);
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater, element))
    return {};
  if (!preset.empty())
    return get(parser.getContext(), preset);
  if (requireRule(parser, location, seen))
    return {};
  return get(parser.getContext(), options);
}

void QuantizationAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<" << llvm::join(textOf(*this), ", ") << ">";
}

QuantizationAttr QuantizationAttr::get(mlir::MLIRContext* context, const QuantizeOptions& options) {
  return get(context, llvm::StringRef(), QuantizationSettings{options});
}

QuantizationAttr QuantizationAttr::get(mlir::MLIRContext* context, llvm::StringRef preset) {
  return get(context, preset, QuantizationSettings{});
}

QuantizeOptions QuantizationAttr::getOptions(ScaledType type,
                                             const format::ElementFormat& input) const {
  QuantizeOptions options = getSettings().options;
  if (!getPreset().empty()) {
    const numerics::Preset* preset = presetFor(getPreset(), type).first;
    assert(preset && "verifyFor refuses presets that the type does not have");
    options = preset->options;
  }
  options.input = &input;
  return options;
}

mlir::LogicalResult
QuantizationAttr::verifyFor(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                            ScaledType type) const {
  if (!getPreset().empty()) {
    const auto [preset, of] = presetFor(getPreset(), type);
    if (!preset) {
      auto diagnostic = emitError() << "(Q4) unknown preset \"" << getPreset() << "\" for " << type
                                    << "; available:";
      bool hasAny = false;
      for (const FormatOfType& candidate : formatsOf(type))
        for (std::string_view name : numerics::presetNames(*candidate.format)) {
          diagnostic << (hasAny ? ", " : " ") << llvm::StringRef(name);
          hasAny = true;
        }
      return hasAny ? diagnostic : diagnostic << " none";
    }
    llvm::SmallVector<std::int64_t> shape(type.getShape());
    llvm::replace(shape, mlir::ShapedType::kDynamic, std::int64_t{1}); // a multiple of no block
    if (const auto refused = numerics::refusedAxis(*preset, *of.format, shape, of.contracted))
      return emitError() << "(Q5) " << getPreset() << " refuses axis " << refused->axis << " of "
                         << type << ", which is not "
                         << (type.getShape()[refused->axis] == mlir::ShapedType::kDynamic
                                 ? "known to be "
                                 : "")
                         << "a multiple of its blocks of " << refused->block
                         << "; give the settings one by one, or pad";
    return mlir::success();
  }
  const QuantizeOptions& options = getSettings().options;
  const bool isLimited = options.scaleValues == numerics::ScaleValues::PowersOfTwo;
  if (isLimited && type.getScale() != &format::element("f32"))
    return emitError() << "(Q6) scale_values = powers-of-two limits scales of f32, found "
                       << llvm::StringRef(type.getScale()->irName());
  const bool isPowerOfTwo = type.getScale()->specials == format::Specials::Scale;
  if (!isPowerOfTwo && !isLimited && options.rule != format::ScaleRule::Nearest &&
      !numerics::roundsScaleUp(*type.getScale(), options))
    return emitError() << "(Q2) scales of " << llvm::StringRef(type.getScale()->irName())
                       << " have the rule nearest only, found "
                       << llvm::StringRef(format::scaleRuleName(options.rule));
  const auto isWhole = [&] {
    return llvm::equal(type.getShape(), type.getBlock(), [](std::int64_t extent, auto block) {
      return extent == block || extent == 0;
    });
  };
  if (options.amax && !type.getHasOuterScale() && !isWhole())
    return emitError() << "(Q8) an amax is given where one scale is of the whole tensor; the "
                          "blocks of "
                       << type << " have scales of their own";
  const numerics::ScaleCorners& corners = options.corners;
  for (const auto& [key, scale] : {std::pair("zero_block", corners.zero),
                                   {"nan_block", corners.nan},
                                   {"inf_block", corners.infinite},
                                   {"past_range", corners.pastRange},
                                   {"underflow", corners.underflow},
                                   {"least_scale", corners.least}})
    if (scale && !std::isnan(scale->value) &&
        numerics::round(*type.getScale(), scale->value) != scale->value)
      return emitError() << "(Q7) " << key << " is not a value of "
                         << llvm::StringRef(type.getScale()->irName());
  return mlir::success();
}

mlir::ParseResult parseQuantization(mlir::OpAsmParser& parser, QuantizationAttr& attribute) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  QuantizeOptions options;
  unsigned seen = 0;
  while (succeeded(parser.parseOptionalComma())) {
    std::string preset;
    bool isPreset = false;
    if (seen == 0 && parsePreset(parser, isPreset, preset))
      return mlir::failure();
    if (isPreset) {
      attribute = QuantizationAttr::get(parser.getContext(), preset);
      return mlir::success();
    }
    if (parseKey<QuantizeOptions>(parser, kQuantizationKeys, options, seen))
      return mlir::failure();
  }
  if (requireRule(parser, location, seen))
    return mlir::failure();
  attribute = QuantizationAttr::get(parser.getContext(), options);
  return mlir::success();
}

void printQuantization(mlir::OpAsmPrinter& printer, mlir::Operation*, QuantizationAttr attribute) {
  for (const std::string& text : textOf(attribute))
    printer << ", " << text;
}

} // namespace octavo::ir
