// The text of #octavo.quantization and #octavo.conversion: lists of `key = value`.
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

/// A key of a structure of options: how its value is read, written and compared.
template <typename Options> struct Key {
  llvm::StringRef name;
  /// Reports what is wrong with a value, at the value.
  mlir::ParseResult (*parse)(mlir::AsmParser&, llvm::StringRef key, Options&);
  void (*print)(llvm::raw_ostream&, const Options&);
  bool (*equal)(const Options&, const Options&);
};

/// The key of the member that `At{}(options)` is, written as `Text` has it.
template <typename Options, typename At, typename Text>
constexpr Key<Options> key(llvm::StringRef name, At, Text) {
  return {name,
          [](mlir::AsmParser& parser, llvm::StringRef key, Options& options) {
            return Text::parse(parser, key, At{}(options));
          },
          [](llvm::raw_ostream& out, const Options& options) { Text::print(out, At{}(options)); },
          [](const Options& a, const Options& b) { return At{}(a) == At{}(b); }};
}

/// A word that may have hyphens: `ties-to-even`.
mlir::ParseResult parseHyphenated(mlir::AsmParser& parser, llvm::SmallString<32>& word);

/// One of the first `count` values of an enumeration, by the name that `name` gives it.
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
                      << "'" << key << "' cannot be '" << word << "'; it can be ";
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

/// One `key = value`; `seen` has a bit for each key that was there before.
template <typename Options>
mlir::ParseResult parseKey(mlir::AsmParser& parser, std::span<const Key<Options>> keys,
                           Options& options, unsigned& seen) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  llvm::StringRef name;
  if (parser.parseKeyword(&name))
    return mlir::failure();
  const auto key = llvm::find_if(keys, [&](const auto& row) { return row.name == name; });
  if (key == keys.end()) {
    auto diagnostic = parser.emitError(location) << "unknown option '" << name << "'; there are ";
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

/// `<key = value, ...>`.
template <typename Options>
mlir::ParseResult parseBody(mlir::AsmParser& parser, std::span<const Key<Options>> keys,
                            Options& options, unsigned& seen) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater,
                                        [&] { return parseKey(parser, keys, options, seen); });
}

/// `, key = value` as often as there is a comma.
template <typename Options>
mlir::ParseResult parseTail(mlir::AsmParser& parser, std::span<const Key<Options>> keys,
                            Options& options, unsigned& seen) {
  while (succeeded(parser.parseOptionalComma()))
    if (parseKey(parser, keys, options, seen))
      return mlir::failure();
  return mlir::success();
}

/// `key = value` for each key whose value is not that of `defaults`, or that `always` names.
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
