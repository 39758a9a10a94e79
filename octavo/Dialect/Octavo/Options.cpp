// #octavo.quantization and #octavo.conversion: lists of `key = choice`, where the choices are the
// names that Format and Numerics give them.
#include "octavo/Dialect/Octavo/Assembly.h"

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::ir {

namespace {

using numerics::Conversion;
using numerics::QuantizeOptions;

/// A key of an options structure: how its choice is read from a name and written as one.
template <typename Options> struct Key {
  llvm::StringRef name;
  bool (*read)(Options&, std::string_view choice);
  std::string_view (*write)(const Options&);
  /// All choices that there are, for the error about one that is not.
  std::string (*choices)();
};

/// The names of an enumeration's values, which lie one after another from 0.
template <typename Enum> std::string listNames(std::string_view (*name)(Enum), int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(name(static_cast<Enum>(i)));
  return text;
}

template <typename Enum> bool assign(Enum& member, std::optional<Enum> choice) {
  if (choice)
    member = *choice;
  return choice.has_value();
}

std::string_view int8RangeName(numerics::Int8Range range) {
  return range == numerics::Int8Range::Symmetric ? "symmetric" : "full";
}

/// The value of a two-valued enumeration that has that name.
template <typename Enum>
std::optional<Enum> findOfTwo(std::string_view (*name)(Enum), std::string_view choice) {
  for (Enum value : {Enum{0}, Enum{1}})
    if (name(value) == choice)
      return value;
  return std::nullopt;
}

constexpr int kRoundings = static_cast<int>(numerics::Rounding::Stochastic) + 1;
constexpr int kNonFinites = static_cast<int>(numerics::NonFinite::SkipNan) + 1;

const std::array<Key<QuantizeOptions>, 5> kQuantizationKeys = {{
    {"rule",
     [](auto& options, auto choice) { return assign(options.rule, format::findScaleRule(choice)); },
     [](const auto& options) { return format::scaleRuleName(options.rule); },
     [] { return listNames(format::scaleRuleName, static_cast<int>(format::kScaleRules.size())); }},
    {"rounding",
     [](auto& options, auto choice) {
       return assign(options.rounding, numerics::findRounding(choice));
     },
     [](const auto& options) { return numerics::roundingName(options.rounding); },
     [] { return listNames(numerics::roundingName, kRoundings); }},
    {"overflow",
     [](auto& options, auto choice) {
       return assign(options.overflow, numerics::findOverflow(choice));
     },
     [](const auto& options) { return numerics::overflowName(options.overflow); },
     [] { return listNames(numerics::overflowName, 2); }},
    {"non_finite",
     [](auto& options, auto choice) {
       return assign(options.nonFinite, numerics::findNonFinite(choice));
     },
     [](const auto& options) { return numerics::nonFiniteName(options.nonFinite); },
     [] { return listNames(numerics::nonFiniteName, kNonFinites); }},
    {"int8",
     [](auto& options, auto choice) {
       return assign(options.int8, findOfTwo(int8RangeName, choice));
     },
     [](const auto& options) { return int8RangeName(options.int8); },
     [] { return listNames(int8RangeName, 2); }},
}};

const std::array<Key<Conversion>, 3> kConversionKeys = {{
    {"rounding",
     [](auto& options, auto choice) {
       return assign(options.rounding, numerics::findRounding(choice));
     },
     [](const auto& options) { return numerics::roundingName(options.rounding); },
     [] { return listNames(numerics::roundingName, kRoundings); }},
    {"overflow",
     [](auto& options, auto choice) {
       return assign(options.overflow, numerics::findOverflow(choice));
     },
     [](const auto& options) { return numerics::overflowName(options.overflow); },
     [] { return listNames(numerics::overflowName, 2); }},
    {"nan",
     [](auto& options, auto choice) {
       return assign(options.nan, numerics::findNanCode(choice));
     },
     [](const auto& options) { return numerics::nanCodeName(options.nan); },
     [] { return listNames(numerics::nanCodeName, 2); }},
}};

/// A word that may have hyphens: `ties-to-even`.
mlir::ParseResult parseHyphenated(mlir::AsmParser& parser, llvm::SmallString<32>& word) {
  llvm::StringRef part;
  if (parser.parseKeyword(&part))
    return mlir::failure();
  word = part;
  while (succeeded(parser.parseOptionalMinus())) {
    if (parser.parseKeyword(&part))
      return mlir::failure();
    word += '-';
    word += part;
  }
  return mlir::success();
}

/// One `key = choice`; `seen` has a bit for each key that was there before.
template <typename Options, std::size_t N>
mlir::ParseResult parseKey(mlir::AsmParser& parser, const std::array<Key<Options>, N>& keys,
                           Options& options, unsigned& seen) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  llvm::StringRef name;
  if (parser.parseKeyword(&name))
    return mlir::failure();
  const auto* key = llvm::find_if(keys, [&](const auto& row) { return row.name == name; });
  if (key == keys.end()) {
    auto diagnostic = parser.emitError(location) << "unknown option '" << name << "'; available: ";
    llvm::interleaveComma(keys, diagnostic, [&](const auto& row) { diagnostic << row.name; });
    return mlir::failure();
  }
  const unsigned bit = 1u << (key - keys.begin());
  if (seen & bit)
    return parser.emitError(location) << "option '" << name << "' is given twice";
  seen |= bit;
  if (parser.parseEqual())
    return mlir::failure();
  const llvm::SMLoc choiceLocation = parser.getCurrentLocation();
  llvm::SmallString<32> choice;
  if (parseHyphenated(parser, choice))
    return mlir::failure();
  if (!key->read(options, choice.str()))
    return parser.emitError(choiceLocation) << "'" << choice << "' is not a value of '" << name
                                            << "'; available: " << key->choices();
  return mlir::success();
}

/// The keys whose choice is not the default, and the first key always if `firstAlways`.
template <typename Options, std::size_t N, typename Print>
void printKeys(const std::array<Key<Options>, N>& keys, const Options& options, bool firstAlways,
               Print print) {
  const Options defaults;
  for (const auto& [index, key] : llvm::enumerate(keys))
    if ((index == 0 && firstAlways) || key.write(options) != key.write(defaults))
      print(key.name, llvm::StringRef(key.write(options)));
}

mlir::ParseResult requireRule(mlir::AsmParser& parser, llvm::SMLoc location, unsigned seen) {
  if (seen & 1)
    return mlir::success();
  return parser.emitError(location)
         << "expected 'rule = ...', one of " << kQuantizationKeys[0].choices();
}

/// `<key = choice, ...>`.
template <typename Options, std::size_t N>
mlir::ParseResult parseBody(mlir::AsmParser& parser, const std::array<Key<Options>, N>& keys,
                            Options& options, unsigned& seen) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater,
                                        [&] { return parseKey(parser, keys, options, seen); });
}

/// `, key = choice` as often as there is a comma.
template <typename Options, std::size_t N>
mlir::ParseResult parseTail(mlir::AsmParser& parser, const std::array<Key<Options>, N>& keys,
                            Options& options, unsigned& seen) {
  while (succeeded(parser.parseOptionalComma()))
    if (parseKey(parser, keys, options, seen))
      return mlir::failure();
  return mlir::success();
}

template <typename Options, std::size_t N>
void printBody(mlir::AsmPrinter& printer, const std::array<Key<Options>, N>& keys,
               const Options& options, bool firstAlways) {
  printer << "<";
  llvm::StringRef separator;
  printKeys(keys, options, firstAlways, [&](llvm::StringRef key, llvm::StringRef choice) {
    printer << separator << key << " = " << choice;
    separator = ", ";
  });
  printer << ">";
}

} // namespace

mlir::Attribute QuantizationAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  QuantizeOptions options;
  unsigned seen = 0;
  const llvm::SMLoc location = parser.getCurrentLocation();
  if (parseBody(parser, kQuantizationKeys, options, seen) || requireRule(parser, location, seen))
    return {};
  return get(parser.getContext(), options);
}

void QuantizationAttr::print(mlir::AsmPrinter& printer) const {
  printBody(printer, kQuantizationKeys, getOptions(), /*firstAlways=*/true);
}

QuantizationAttr QuantizationAttr::get(mlir::MLIRContext* context, const QuantizeOptions& options) {
  return get(context, options.rule, options.rounding, options.overflow, options.nonFinite,
             options.int8);
}

QuantizeOptions QuantizationAttr::getOptions() const {
  return {getRule(), getRounding(), getOverflow(), getNonFinite(), getInt8()};
}

mlir::LogicalResult
QuantizationAttr::verifyFor(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                            ScaledType type) const {
  const bool isPowerOfTwo = type.getScale()->specials == format::Specials::Scale;
  if (!isPowerOfTwo && getRule() != format::ScaleRule::Nearest)
    return emitError() << "(Q2) scales of " << llvm::StringRef(type.getScale()->mlir)
                       << " have the rule nearest only, found "
                       << llvm::StringRef(format::scaleRuleName(getRule()));
  return mlir::success();
}

mlir::Attribute ConversionAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Conversion conversion;
  unsigned seen = 0;
  if (parseBody(parser, kConversionKeys, conversion, seen))
    return {};
  return get(parser.getContext(), conversion);
}

void ConversionAttr::print(mlir::AsmPrinter& printer) const {
  printBody(printer, kConversionKeys, getConversion(), /*firstAlways=*/false);
}

ConversionAttr ConversionAttr::get(mlir::MLIRContext* context, const Conversion& conversion) {
  return get(context, conversion.rounding, conversion.overflow, conversion.nan);
}

Conversion ConversionAttr::getConversion() const {
  return {getRounding(), getOverflow(), getNan()};
}

mlir::ParseResult parseQuantization(mlir::OpAsmParser& parser, QuantizationAttr& attribute) {
  QuantizeOptions options;
  unsigned seen = 0;
  const llvm::SMLoc location = parser.getCurrentLocation();
  if (parseTail(parser, kQuantizationKeys, options, seen) || requireRule(parser, location, seen))
    return mlir::failure();
  attribute = QuantizationAttr::get(parser.getContext(), options);
  return mlir::success();
}

void printQuantization(mlir::OpAsmPrinter& printer, mlir::Operation*, QuantizationAttr attribute) {
  printKeys(kQuantizationKeys, attribute.getOptions(), /*firstAlways=*/true,
            [&](llvm::StringRef key, llvm::StringRef choice) {
              printer << ", " << key << " = " << choice;
            });
}

mlir::ParseResult parseConversion(mlir::OpAsmParser& parser, ConversionAttr& attribute) {
  Conversion conversion;
  unsigned seen = 0;
  if (parseTail(parser, kConversionKeys, conversion, seen))
    return mlir::failure();
  attribute = ConversionAttr::get(parser.getContext(), conversion);
  return mlir::success();
}

void printConversion(mlir::OpAsmPrinter& printer, mlir::Operation*, ConversionAttr attribute) {
  printKeys(kConversionKeys, attribute.getConversion(), /*firstAlways=*/false,
            [&](llvm::StringRef key, llvm::StringRef choice) {
              printer << ", " << key << " = " << choice;
            });
}

} // namespace octavo::ir
