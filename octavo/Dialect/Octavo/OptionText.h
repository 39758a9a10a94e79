// Reads and writes #octavo.quantization and #octavo.conversion: lists of `key = value`.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <span>
#include <string>

namespace octavo::ir {

/// A key of the structure `Options`: how its value is read, written and compared.
template <typename Options> struct Key {
  llvm::StringRef name;
  /// Reads the value into Options. Reports an error at the value if it is invalid.
  mlir::ParseResult (*parse)(mlir::AsmParser&, llvm::StringRef key, Options&);
  void (*print)(llvm::raw_ostream&, const Options&);
  bool (*equal)(const Options&, const Options&);
};

/// The key `name` for the member `At{}(options)`. `Text` reads and writes the member's type.
template <typename Options, typename At, typename Text>
constexpr Key<Options> key(llvm::StringRef name, At, Text) {
  return {name,
          [](mlir::AsmParser& parser, llvm::StringRef key, Options& options) {
            return Text::parse(parser, key, At{}(options));
          },
          [](llvm::raw_ostream& out, const Options& options) { Text::print(out, At{}(options)); },
          [](const Options& a, const Options& b) { return At{}(a) == At{}(b); }};
}

/// Reads a word that may have hyphens: `ties-to-even`.
mlir::ParseResult parseHyphenated(mlir::AsmParser& parser, llvm::SmallString<32>& word);

/// The text of an enumeration: `name` gives the text of each of its first `count` values.
template <auto name, int count> struct ChoiceText {
  template <typename Enum>
  static mlir::ParseResult parse(mlir::AsmParser& parser, llvm::StringRef key, Enum& value) {
    const llvm::SMLoc location = parser.getCurrentLocation();
    llvm::SmallString<32> word;
    if (parseHyphenated(parser, word))
      return mlir::failure();
    for (int i = 0; i < count; ++i)
      if (llvm::StringRef(name(static_cast<Enum>(i))) == word) {
        value = static_cast<Enum>(i);
        return mlir::success();
      }
    auto diagnostic = parser.emitError(location)
                      << "'" << word << "' is not a value of '" << key << "'; available: ";
    llvm::interleaveComma(llvm::seq(count), diagnostic, [&](int i) {
      diagnostic << llvm::StringRef(name(static_cast<Enum>(i)));
    });
    return mlir::failure();
  }
  template <typename Enum> static void print(llvm::raw_ostream& out, Enum value) {
    out << llvm::StringRef(name(value));
  }
};

using RoundingText =
    ChoiceText<numerics::roundingName, static_cast<int>(numerics::Rounding::Stochastic) + 1>;
using OverflowText = ChoiceText<numerics::overflowName, 2>;

/// Reads one `key = value`. `seen` has a bit for each key that was read; a key that is set already
/// is an error.
template <typename Options>
mlir::ParseResult parseKey(mlir::AsmParser& parser, std::span<const Key<Options>> keys,
                           Options& options, unsigned& seen) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  llvm::StringRef name;
  if (parser.parseKeyword(&name))
    return mlir::failure();
  const auto key = llvm::find_if(keys, [&](const auto& row) { return row.name == name; });
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
  return key->parse(parser, name, options);
}

/// Reads `<key = value, ...>`.
template <typename Options>
mlir::ParseResult parseBody(mlir::AsmParser& parser, std::span<const Key<Options>> keys,
                            Options& options, unsigned& seen) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater,
                                        [&] { return parseKey(parser, keys, options, seen); });
}

/// Reads `, key = value` until there is no comma.
template <typename Options>
mlir::ParseResult parseTail(mlir::AsmParser& parser, std::span<const Key<Options>> keys,
                            Options& options, unsigned& seen) {
  while (succeeded(parser.parseOptionalComma()))
    if (parseKey(parser, keys, options, seen))
      return mlir::failure();
  return mlir::success();
}

/// `key = value` for each key whose value differs from `defaults`, and for the key named `always`.
template <typename Options>
llvm::SmallVector<std::string> keysText(std::span<const Key<Options>> keys, const Options& options,
                                        const Options& defaults, llvm::StringRef always = {}) {
  llvm::SmallVector<std::string> texts;
  for (const Key<Options>& key : keys)
    if (key.name == always || !key.equal(options, defaults)) {
      llvm::raw_string_ostream out(texts.emplace_back());
      out << key.name << " = ";
      key.print(out, options);
    }
  return texts;
}

} // namespace octavo::ir
