// Reads and prints the text `<name = value, ...>` of attributes, field by field.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"

#include "mlir/IR/OpImplementation.h"

#include <concepts>
#include <functional>
#include <vector>

namespace octavo::stablehlo {

using IndexList = llvm::SmallVector<std::int64_t>;

inline mlir::ParseResult parseValue(mlir::AsmParser& parser, IndexList& indices) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(indices.emplace_back());
  });
}
inline mlir::ParseResult parseValue(mlir::AsmParser& parser, std::int64_t& value) {
  return parser.parseInteger(value);
}
inline mlir::ParseResult parseValue(mlir::AsmParser& parser, mlir::Type& type) {
  return parser.parseType(type);
}
inline mlir::ParseResult parseValue(mlir::AsmParser& parser, bool& value) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  value = keyword == "true";
  if (!value && keyword != "false")
    return parser.emitError(at) << "expected true or false; found '" << keyword << "'";
  return mlir::success();
}

inline mlir::ParseResult parseValue(mlir::AsmParser& parser, llvm::APFloat& value) {
  double number = 0.0;
  if (parser.parseFloat(number))
    return mlir::failure();
  value = llvm::APFloat(number);
  return mlir::success();
}
template <std::derived_from<mlir::Attribute> A>
mlir::ParseResult parseValue(mlir::AsmParser& parser, A& attribute) {
  return parser.parseAttribute(attribute);
}

/// Reads `entry, entry, ...` and the closing token, which `optionalClosing` and `closing` parse. A
/// comma may follow the last entry, as in StableHLO's own parser.
inline mlir::ParseResult
parseListWithTrailingComma(mlir::AsmParser& parser,
                           llvm::function_ref<mlir::ParseResult()> optionalClosing,
                           llvm::function_ref<mlir::ParseResult()> closing,
                           llvm::function_ref<mlir::ParseResult()> entry) {
  while (failed(optionalClosing())) {
    if (entry())
      return mlir::failure();
    if (failed(parser.parseOptionalComma()))
      return closing();
  }
  return mlir::success();
}

/// A named field. Fields come in any order.
struct Field {
  template <typename T>
  Field(llvm::StringRef name, T& value)
      : name(name), parse([&value](mlir::AsmParser& parser) { return parseValue(parser, value); }) {
  }

  llvm::StringRef name;
  std::function<mlir::ParseResult(mlir::AsmParser&)> parse;
  bool seen = false;
};

/// Whether all fields must be given.
enum class Presence { Optional, Required };

/// Reads `<name = value, ...>`. Reports unknown names, repeated names and, if Required, missing
/// fields.
inline mlir::ParseResult parseFields(mlir::AsmParser& parser, Presence presence,
                                     std::vector<Field> fields) {
  const llvm::SMLoc start = parser.getCurrentLocation();
  const auto one = [&]() -> mlir::ParseResult {
    const llvm::SMLoc at = parser.getCurrentLocation();
    llvm::StringRef name;
    if (parser.parseKeyword(&name))
      return mlir::failure();
    const auto field = llvm::find_if(fields, [&](const Field& f) { return f.name == name; });
    if (field == fields.end()) {
      mlir::InFlightDiagnostic error = parser.emitError(at);
      error << "unknown field '" << name << "'; expected one of: ";
      llvm::interleaveComma(fields, error, [&](const Field& f) { error << f.name; });
      return error;
    }
    if (field->seen)
      return parser.emitError(at) << "field '" << name << "' is given twice";
    field->seen = true;
    return mlir::failure(parser.parseEqual() || field->parse(parser));
  };
  if (parser.parseLess() || parseListWithTrailingComma(
                                parser, [&] { return parser.parseOptionalGreater(); },
                                [&] { return parser.parseGreater(); }, one))
    return mlir::failure();
  for (const Field& field : fields)
    if (presence == Presence::Required && !field.seen)
      return parser.emitError(start) << "field '" << field.name << "' is missing";
  return mlir::success();
}

/// Prints `<name = value, ...>`: `<` when constructed, `>` when destroyed.
class FieldPrinter {
public:
  explicit FieldPrinter(mlir::AsmPrinter& printer) : printer(printer) { printer << '<'; }
  ~FieldPrinter() { printer << '>'; }

  template <typename T> FieldPrinter& field(llvm::StringRef name, const T& value) {
    printer << separator << name << " = " << value;
    separator = ", ";
    return *this;
  }
  FieldPrinter& field(llvm::StringRef name, const llvm::APFloat& value) {
    printer << separator << name << " = ";
    printer.printFloat(value);
    separator = ", ";
    return *this;
  }
  /// Prints the field unless it has its default: no indices, or 0.
  FieldPrinter& optional(llvm::StringRef name, llvm::ArrayRef<std::int64_t> indices) {
    return indices.empty() ? *this : field(name, spell(indices));
  }
  FieldPrinter& optional(llvm::StringRef name, std::int64_t value) {
    return value == 0 ? *this : field(name, value);
  }

private:
  mlir::AsmPrinter& printer;
  llvm::StringRef separator;
};

} // namespace octavo::stablehlo
