#include "octavo/Dialect/StableHLO/Assembly.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::stablehlo {

using mlir::failure;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;
using mlir::success;
using mlir::Type;

namespace {

/// Reads one type. A function type sets `function`; any other type sets `one`.
ParseResult parseTypeOrFunction(OpAsmParser& parser, Type& one, mlir::FunctionType& function) {
  if (parser.parseType(one))
    return failure();
  function = llvm::dyn_cast<mlir::FunctionType>(one);
  return success();
}

ParseResult expectCounts(OpAsmParser& parser, llvm::SMLoc at, mlir::FunctionType function,
                         std::size_t operands, std::size_t results) {
  if (function.getNumInputs() == operands && function.getNumResults() == results)
    return success();
  return parser.emitError(at) << "expected " << operands << " operand type(s) and " << results
                              << " result type(s); found " << function.getNumInputs() << " and "
                              << function.getNumResults();
}

} // namespace

ParseResult parseTypes(OpAsmParser& parser, llvm::ArrayRef<Type*> types) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  Type one;
  mlir::FunctionType function;
  if (parseTypeOrFunction(parser, one, function))
    return failure();
  if (!function) {
    for (Type* type : types)
      *type = one;
    return success();
  }
  if (expectCounts(parser, at, function, types.size() - 1, 1))
    return failure();
  for (auto [type, input] : llvm::zip(types.drop_back(), function.getInputs()))
    *type = input;
  *types.back() = function.getResult(0);
  return success();
}

void printTypes(OpAsmPrinter& printer, llvm::ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.back();
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

ParseResult parseSelectTypes(OpAsmParser& parser, Type& predicate, Type& onTrue, Type& onFalse,
                             Type& result) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  mlir::FunctionType function;
  if (parseTypeOrFunction(parser, predicate, function))
    return failure();
  if (!function) {
    if (parser.parseComma() || parser.parseType(result))
      return failure();
    onTrue = onFalse = result;
    return success();
  }
  if (expectCounts(parser, at, function, 3, 1))
    return failure();
  predicate = function.getInput(0);
  onTrue = function.getInput(1);
  onFalse = function.getInput(2);
  result = function.getResult(0);
  return success();
}

void printSelectTypes(OpAsmPrinter& printer, mlir::Operation*, Type predicate, Type onTrue,
                      Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << predicate << ", " << result;
  else
    printer.printFunctionalType(llvm::ArrayRef<Type>{predicate, onTrue, onFalse},
                                llvm::ArrayRef<Type>(result));
}

ParseResult parseTypesOrFunction(OpAsmParser& parser, llvm::SmallVectorImpl<Type>& operands,
                                 llvm::SmallVectorImpl<Type>& results) {
  Type first;
  mlir::FunctionType function;
  if (parseTypeOrFunction(parser, first, function))
    return failure();
  if (function) {
    operands.append(function.getInputs().begin(), function.getInputs().end());
    results.append(function.getResults().begin(), function.getResults().end());
    return success();
  }
  operands.push_back(first);
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(operands.emplace_back()))
      return failure();
  results.append(operands.begin(), operands.end());
  return success();
}

void printTypesOrFunction(OpAsmPrinter& printer, mlir::Operation*, mlir::TypeRange operands,
                          mlir::TypeRange results) {
  if (operands == results)
    llvm::interleaveComma(operands, printer);
  else
    printer.printFunctionalType(operands, results);
}

ParseResult parseTupleTypes(OpAsmParser& parser, llvm::SmallVectorImpl<Type>& operands,
                            Type& result) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  mlir::FunctionType function;
  if (parseTypeOrFunction(parser, result, function))
    return failure();
  if (function) {
    if (expectCounts(parser, at, function, function.getNumInputs(), 1))
      return failure();
    operands.append(function.getInputs().begin(), function.getInputs().end());
    result = function.getResult(0);
    return success();
  }
  const auto tuple = llvm::dyn_cast<mlir::TupleType>(result);
  if (!tuple)
    return parser.emitError(at) << "expected a tuple type, such as tuple<tensor<2xf32>>; found "
                                << result;
  operands.append(tuple.begin(), tuple.end());
  return success();
}

void printTupleTypes(OpAsmPrinter& printer, mlir::Operation*, mlir::TypeRange operands,
                     Type result) {
  const auto tuple = llvm::dyn_cast<mlir::TupleType>(result);
  if (tuple && mlir::TypeRange(tuple.getTypes()) == operands)
    printer << result;
  else
    printer.printFunctionalType(operands, llvm::ArrayRef<Type>(result));
}

ParseResult parseCommaOperands(OpAsmParser& parser,
                               llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand>& operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    const mlir::OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value())
      return success();
    if (*found || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void printCommaOperands(OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  printer << (operands.empty() ? "" : ",");
}

ParseResult parseExponentMantissa(OpAsmParser& parser, mlir::IntegerAttr& exponentBits,
                                  mlir::IntegerAttr& mantissaBits) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  llvm::StringRef rest = keyword;
  std::int32_t exponent = 0;
  std::int32_t mantissa = 0;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponent) || !rest.consume_front("m") ||
      rest.getAsInteger(10, mantissa))
    return parser.emitError(at) << "expected a format such as e5m2: the exponent's bits and the "
                                   "trailing significand's; found '"
                                << keyword << "'";
  exponentBits = parser.getBuilder().getI32IntegerAttr(exponent);
  mantissaBits = parser.getBuilder().getI32IntegerAttr(mantissa);
  return success();
}

void printExponentMantissa(OpAsmPrinter& printer, mlir::Operation*, mlir::IntegerAttr exponentBits,
                           mlir::IntegerAttr mantissaBits) {
  printer << 'e' << exponentBits.getInt() << 'm' << mantissaBits.getInt();
}

ParseResult parseSliceRanges(OpAsmParser& parser, mlir::DenseI64ArrayAttr& starts,
                             mlir::DenseI64ArrayAttr& limits, mlir::DenseI64ArrayAttr& strides) {
  llvm::SmallVector<std::int64_t> start;
  llvm::SmallVector<std::int64_t> limit;
  llvm::SmallVector<std::int64_t> stride;
  const auto range = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    return failure(succeeded(parser.parseOptionalColon()) &&
                   failed(parser.parseInteger(stride.back())));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, range, " in slice ranges"))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void printSliceRanges(OpAsmPrinter& printer, mlir::Operation*, mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits, mlir::DenseI64ArrayAttr strides) {
  printer << '[';
  // The lists have one length only in a valid operation, but error messages also print invalid
  // ones.
  const auto each = llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef());
  llvm::interleaveComma(each, printer, [&](const auto& range) {
    const auto [start, limit, stride] = range;
    printer << start << ':' << limit;
    if (stride != 1)
      printer << ':' << stride;
  });
  printer << ']';
}

namespace {

ParseResult parseIndexList(OpAsmParser& parser, llvm::SmallVectorImpl<std::int64_t>& indices) {
  return parser.parseCommaSeparatedList(
      OpAsmParser::Delimiter::Square, [&] { return parser.parseInteger(indices.emplace_back()); });
}

/// `[0] x [1]`
ParseResult parseIndexPair(OpAsmParser& parser, llvm::SmallVectorImpl<std::int64_t>& lhs,
                           llvm::SmallVectorImpl<std::int64_t>& rhs) {
  if (parser.parseEqual() || parseIndexList(parser, lhs) || parser.parseKeyword("x") ||
      parseIndexList(parser, rhs))
    return failure();
  return success();
}

} // namespace

ParseResult parsePrecisionConfig(OpAsmParser& parser, mlir::ArrayAttr& precision) {
  llvm::SmallVector<mlir::Attribute> entries;
  const auto entry = [&]() -> ParseResult {
    PrecisionAttr value;
    if (parseEnumeration(parser, value))
      return failure();
    entries.push_back(value);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, entry))
    return failure();
  precision = parser.getBuilder().getArrayAttr(entries);
  return success();
}

void printPrecisionConfig(OpAsmPrinter& printer, mlir::Operation* op, mlir::ArrayAttr precision) {
  printer << '[';
  llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr entry) { printEnumeration(printer, op, entry); });
  printer << ']';
}

ParseResult parseDotAttributes(OpAsmParser& parser, DotDimensionNumbersAttr& dimensions,
                               mlir::ArrayAttr& precision, DotAlgorithmAttr& algorithm) {
  llvm::SmallVector<std::int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parseIndexPair(parser, lhsBatching, rhsBatching) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseIndexPair(parser, lhsContracting, rhsContracting))
    return failure();
  dimensions = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching,
                                            lhsContracting, rhsContracting);
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("precision"))) {
    if (parser.parseEqual() || parsePrecisionConfig(parser, precision))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  if (parser.parseKeyword("algorithm") || parser.parseEqual())
    return failure();
  algorithm =
      llvm::dyn_cast_or_null<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, mlir::Type()));
  return mlir::success(static_cast<bool>(algorithm));
}

void printDotAttributes(OpAsmPrinter& printer, mlir::Operation* op,
                        DotDimensionNumbersAttr dimensions, mlir::ArrayAttr precision,
                        DotAlgorithmAttr algorithm) {
  if (!dimensions.getLhsBatchingDimensions().empty() ||
      !dimensions.getRhsBatchingDimensions().empty())
    printer << "batching_dims = " << spell(dimensions.getLhsBatchingDimensions()) << " x "
            << spell(dimensions.getRhsBatchingDimensions()) << ", ";
  printer << "contracting_dims = " << spell(dimensions.getLhsContractingDimensions()) << " x "
          << spell(dimensions.getRhsContractingDimensions());
  if (precision) {
    printer << ", precision = ";
    printPrecisionConfig(printer, op, precision);
  }
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}

ParseResult parseCallTarget(OpAsmParser& parser, mlir::StringAttr& name) {
  return parser.parseSymbolName(name);
}

void printCallTarget(OpAsmPrinter& printer, mlir::Operation*, mlir::StringAttr name) {
  printer.printSymbolName(name);
}

ParseResult parseComplexTypes(OpAsmParser& parser, Type& lhs, Type& rhs, Type& result) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  Type one;
  mlir::FunctionType function;
  if (parseTypeOrFunction(parser, one, function))
    return failure();
  if (function) {
    if (expectCounts(parser, at, function, 2, 1))
      return failure();
    lhs = function.getInput(0);
    rhs = function.getInput(1);
    result = function.getResult(0);
    return success();
  }
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(one);
  const auto complex =
      tensor ? llvm::dyn_cast<mlir::ComplexType>(tensor.getElementType()) : mlir::ComplexType();
  if (!complex)
    return parser.emitError(at) << "expected a tensor of complex numbers; found " << one;
  lhs = rhs = withElement(tensor, complex.getElementType());
  result = one;
  return success();
}

void printComplexTypes(OpAsmPrinter& printer, mlir::Operation*, Type lhs, Type rhs, Type result) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(result);
  const auto complex =
      tensor ? llvm::dyn_cast<mlir::ComplexType>(tensor.getElementType()) : mlir::ComplexType();
  if (complex && lhs == rhs && lhs == withElement(tensor, complex.getElementType()))
    printer << result;
  else
    printer.printFunctionalType(mlir::TypeRange{lhs, rhs}, mlir::TypeRange(result));
}

ParseResult parseTokenTypes(OpAsmParser& parser,
                            llvm::ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                            llvm::SmallVectorImpl<Type>& types, Type& result) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  mlir::FunctionType function;
  if (parseTypeOrFunction(parser, result, function))
    return failure();
  if (!function) {
    types.assign(operands.size(), result);
    return success();
  }
  if (expectCounts(parser, at, function, operands.size(), 1))
    return failure();
  types.assign(function.getInputs().begin(), function.getInputs().end());
  result = function.getResult(0);
  return success();
}

void printTokenTypes(OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange, mlir::TypeRange,
                     Type result) {
  printer << result;
}

} // namespace octavo::stablehlo
