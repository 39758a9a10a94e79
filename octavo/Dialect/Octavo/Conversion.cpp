// #octavo.conversion: reading and printing.
#include "octavo/Dialect/Octavo/Assembly.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/OptionText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

namespace octavo::ir {

using numerics::Conversion;

static constexpr std::array<Key<Conversion>, 3> kConversionKeys = {
    key<Conversion>(
        "rounding", [](auto& options) -> auto& { return options.rounding; }, RoundingText{}),
    key<Conversion>(
        "overflow", [](auto& options) -> auto& { return options.overflow; }, OverflowText{}),
    key<Conversion>(
        "nan", [](auto& options) -> auto& { return options.nan; },
        ChoiceText<numerics::nanCodeName, 2>{}),
};

static llvm::SmallVector<std::string> textOf(const Conversion& conversion) {
  return keysText<Conversion>(kConversionKeys, conversion, {});
}

mlir::Attribute ConversionAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  Conversion conversion;
  unsigned seen = 0;
  if (parseBody<Conversion>(parser, kConversionKeys, conversion, seen))
    return {};
  return get(parser.getContext(), conversion);
}

void ConversionAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<" << llvm::join(textOf(getConversion()), ", ") << ">";
}

ConversionAttr ConversionAttr::get(mlir::MLIRContext* context, const Conversion& conversion) {
  return get(context, conversion.rounding, conversion.overflow, conversion.nan);
}

Conversion ConversionAttr::getConversion() const {
  return {getRounding(), getOverflow(), getNan()};
}

mlir::ParseResult parseConversion(mlir::OpAsmParser& parser, ConversionAttr& attribute) {
  Conversion conversion;
  unsigned seen = 0;
  if (parseTail<Conversion>(parser, kConversionKeys, conversion, seen))
    return mlir::failure();
  attribute = ConversionAttr::get(parser.getContext(), conversion);
  return mlir::success();
}

void printConversion(mlir::OpAsmPrinter& printer, mlir::Operation*, ConversionAttr attribute) {
  for (const std::string& text : textOf(attribute.getConversion()))
    printer << ", " << text;
}

} // namespace octavo::ir
