// The parse* and print* functions of each `custom<...>` in the assembly formats of the .td files.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#include <array>

namespace octavo::stablehlo {

/// One type for all operands and the result, or `(operands) -> result`. The last of `types` is the
/// result's.
mlir::ParseResult parseTypes(mlir::OpAsmParser& parser, llvm::ArrayRef<mlir::Type*> types);
void printTypes(mlir::OpAsmPrinter& printer, llvm::ArrayRef<mlir::Type> types);

template <typename... Types>
mlir::ParseResult parseOneTypeOrFunction(mlir::OpAsmParser& parser, Types&... types) {
  return parseTypes(parser, std::array<mlir::Type*, sizeof...(types)>{&types...});
}
template <typename... Types>
void printOneTypeOrFunction(mlir::OpAsmPrinter& printer, mlir::Operation*, Types... types) {
  printTypes(printer, std::array<mlir::Type, sizeof...(types)>{types...});
}

/// `predicate, result`, or a function type.
mlir::ParseResult parseSelectTypes(mlir::OpAsmParser& parser, mlir::Type& predicate,
                                   mlir::Type& onTrue, mlir::Type& onFalse, mlir::Type& result);
void printSelectTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Type predicate,
                      mlir::Type onTrue, mlir::Type onFalse, mlir::Type result);

/// A list of types, which are those of both the operands and the results; or a function type.
mlir::ParseResult parseTypesOrFunction(mlir::OpAsmParser& parser,
                                       llvm::SmallVectorImpl<mlir::Type>& operands,
                                       llvm::SmallVectorImpl<mlir::Type>& results);
void printTypesOrFunction(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::TypeRange operands,
                          mlir::TypeRange results);

/// A tuple type, whose elements are the operands' types; or a function type.
mlir::ParseResult parseTupleTypes(mlir::OpAsmParser& parser,
                                  llvm::SmallVectorImpl<mlir::Type>& operands, mlir::Type& result);
void printTupleTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::TypeRange operands,
                     mlir::Type result);

/// `%a, %b,`
mlir::ParseResult
parseCommaOperands(mlir::OpAsmParser& parser,
                   llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>& operands);
void printCommaOperands(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange operands);

/// `e5m2`
mlir::ParseResult parseExponentMantissa(mlir::OpAsmParser& parser, mlir::IntegerAttr& exponentBits,
                                        mlir::IntegerAttr& mantissaBits);
void printExponentMantissa(mlir::OpAsmPrinter& printer, mlir::Operation*,
                           mlir::IntegerAttr exponentBits, mlir::IntegerAttr mantissaBits);

/// `[0:2, 0:3:2]`: start, limit, and a stride other than 1.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser& parser, mlir::DenseI64ArrayAttr& starts,
                                   mlir::DenseI64ArrayAttr& limits,
                                   mlir::DenseI64ArrayAttr& strides);
void printSliceRanges(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits, mlir::DenseI64ArrayAttr strides);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT],
/// algorithm = <...>`: all but the contracting dimensions are optional.
mlir::ParseResult parseDotAttributes(mlir::OpAsmParser& parser, DotDimensionNumbersAttr& dimensions,
                                     mlir::ArrayAttr& precision, DotAlgorithmAttr& algorithm);
void printDotAttributes(mlir::OpAsmPrinter& printer, mlir::Operation*,
                        DotDimensionNumbersAttr dimensions, mlir::ArrayAttr precision,
                        DotAlgorithmAttr algorithm);

/// `GT`: the name of an enumerator. Reports the valid names otherwise.
template <typename EnumAttr>
mlir::ParseResult parseEnumeration(mlir::OpAsmParser& parser, EnumAttr& attribute) {
  using Enum = decltype(attribute.getValue());
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  if (const std::optional<Enum> value = symbolizeEnum<Enum>(keyword)) {
    attribute = EnumAttr::get(parser.getContext(), *value);
    return mlir::success();
  }
  std::string names;
  for (std::uint32_t i = 0; !stringifyEnum(Enum(i)).empty(); ++i)
    names += (i == 0 ? "" : ", ") + stringifyEnum(Enum(i)).str();
  return parser.emitError(at) << "expected one of " << names << "; found '" << keyword << "'";
}
template <typename EnumAttr>
void printEnumeration(mlir::OpAsmPrinter& printer, mlir::Operation*, EnumAttr attribute) {
  printer << stringifyEnum(attribute.getValue());
}

/// `@name`
mlir::ParseResult parseCallTarget(mlir::OpAsmParser& parser, mlir::StringAttr& name);
void printCallTarget(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::StringAttr name);

/// `[HIGH, DEFAULT]`
mlir::ParseResult parsePrecisionConfig(mlir::OpAsmParser& parser, mlir::ArrayAttr& precision);
void printPrecisionConfig(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr precision);

/// A complex type, whose parts have the operands' types; or a function type.
mlir::ParseResult parseComplexTypes(mlir::OpAsmParser& parser, mlir::Type& lhs, mlir::Type& rhs,
                                    mlir::Type& result);
void printComplexTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Type lhs,
                       mlir::Type rhs, mlir::Type result);

/// One type for all tokens, or a function type.
mlir::ParseResult parseTokenTypes(mlir::OpAsmParser& parser,
                                  llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
                                  llvm::SmallVectorImpl<mlir::Type>& types, mlir::Type& result);
void printTokenTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange operands,
                     mlir::TypeRange types, mlir::Type result);

/// `[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]`
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser& parser,
                                             ConvDimensionNumbersAttr& dimensions);
void printConvolutionDimensions(mlir::AsmPrinter& printer, mlir::Operation*,
                                ConvDimensionNumbersAttr dimensions);

/// `stride = [2], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]`: each at
/// most once, in any order.
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser& parser, mlir::DenseI64ArrayAttr& strides,
                                        mlir::DenseIntElementsAttr& padding,
                                        mlir::DenseI64ArrayAttr& lhsDilation,
                                        mlir::DenseI64ArrayAttr& rhsDilation,
                                        mlir::DenseBoolArrayAttr& reversal);
void printWindowAttributes(mlir::OpAsmPrinter& printer, mlir::Operation*,
                           mlir::DenseI64ArrayAttr strides, mlir::DenseIntElementsAttr padding,
                           mlir::DenseI64ArrayAttr lhsDilation, mlir::DenseI64ArrayAttr rhsDilation,
                           mlir::DenseBoolArrayAttr reversal);

} // namespace octavo::stablehlo
