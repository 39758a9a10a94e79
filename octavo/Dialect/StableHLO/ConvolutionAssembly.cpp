// Reads and prints the dimension numbers and window attributes of convolutions.
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::stablehlo {

using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;
using mlir::succeeded;
using mlir::success;

namespace {

/// The axes of one tensor: two named by letters, and the spatial axes.
struct OperandAxes {
  std::int64_t first = -1, second = -1;
  IndexList spatial;
};

/// Reads `[b, f, 0, 1]`: letters and numbers in the order of the tensor's axes.
ParseResult parseAxes(AsmParser& parser, llvm::StringRef first, llvm::StringRef second,
                      OperandAxes& axes) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::SmallVector<std::pair<std::int64_t, std::int64_t>> spatial;
  std::int64_t position = 0;
  const auto one = [&]() -> ParseResult {
    const llvm::SMLoc entryAt = parser.getCurrentLocation();
    std::int64_t number = 0;
    const mlir::OptionalParseResult found = parser.parseOptionalInteger(number);
    if (found.has_value()) {
      if (failed(*found))
        return failure();
      spatial.emplace_back(number, position++);
      return success();
    }
    llvm::StringRef letter;
    if (parser.parseKeyword(&letter))
      return failure();
    std::int64_t* axis = letter == first ? &axes.first : letter == second ? &axes.second : nullptr;
    if (axis == nullptr)
      return parser.emitError(entryAt)
             << "expected " << first << ", " << second
             << " or the number of a spatial axis; found '" << letter << "'";
    if (*axis != -1)
      return parser.emitError(entryAt) << "'" << letter << "' is given twice";
    *axis = position++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  if (axes.first == -1 || axes.second == -1)
    return parser.emitError(at) << "expected both " << first << " and " << second;
  llvm::sort(spatial);
  for (auto [i, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<std::int64_t>(i))
      return parser.emitError(at) << "spatial axes must be numbered from 0, each once; there is no "
                                  << i;
    axes.spatial.push_back(entry.second);
  }
  return success();
}

/// Whether the axes can be written in brackets: they are a permutation of 0 to n-1.
bool isPermutation(std::int64_t first, std::int64_t second, llvm::ArrayRef<std::int64_t> spatial) {
  IndexList all(spatial);
  all.append({first, second});
  return !firstRepeated(all) && !firstOutside(all, static_cast<std::int64_t>(all.size()));
}

void printAxes(AsmPrinter& printer, std::int64_t first, std::int64_t second,
               llvm::ArrayRef<std::int64_t> spatial, llvm::StringRef firstLetter,
               llvm::StringRef secondLetter) {
  llvm::SmallVector<std::string> text(spatial.size() + 2);
  text[static_cast<std::size_t>(first)] = firstLetter;
  text[static_cast<std::size_t>(second)] = secondLetter;
  for (auto [i, axis] : llvm::enumerate(spatial))
    text[static_cast<std::size_t>(axis)] = std::to_string(i);
  printer << '[';
  llvm::interleaveComma(text, printer);
  printer << ']';
}

} // namespace

ParseResult parseConvolutionDimensions(AsmParser& parser, ConvDimensionNumbersAttr& dimensions) {
  OperandAxes input, kernel, output;
  if (succeeded(parser.parseOptionalKeyword("raw"))) {
    // The other form, for axes that brackets cannot express.
    input.first = input.second = kernel.first = kernel.second = output.first = output.second = 0;
    while (true) {
      llvm::StringRef name;
      const llvm::SMLoc at = parser.getCurrentLocation();
      if (parser.parseKeyword(&name) || parser.parseEqual())
        return failure();
      const auto number = [&](llvm::StringRef field, std::int64_t& value) -> std::optional<bool> {
        return name == field ? std::optional(succeeded(parser.parseInteger(value))) : std::nullopt;
      };
      const auto list = [&](llvm::StringRef field, IndexList& values) -> std::optional<bool> {
        return name == field ? std::optional(succeeded(parseValue(parser, values))) : std::nullopt;
      };
      std::optional<bool> read = number("input_batch_dimension", input.first);
      for (const auto& [field, value] :
           {std::pair<llvm::StringRef, std::int64_t*>{"input_feature_dimension", &input.second},
            {"kernel_input_feature_dimension", &kernel.first},
            {"kernel_output_feature_dimension", &kernel.second},
            {"output_batch_dimension", &output.first},
            {"output_feature_dimension", &output.second}})
        if (!read)
          read = number(field, *value);
      for (const auto& [field, values] :
           {std::pair<llvm::StringRef, IndexList*>{"input_spatial_dimensions", &input.spatial},
            {"kernel_spatial_dimensions", &kernel.spatial},
            {"output_spatial_dimensions", &output.spatial}})
        if (!read)
          read = list(field, *values);
      if (!read)
        return parser.emitError(at) << "unknown field '" << name << "' of a convolution's axes";
      if (!*read)
        return failure();
      if (failed(parser.parseOptionalComma()))
        break;
    }
  } else if (parseAxes(parser, "b", "f", input) || parser.parseKeyword("x") ||
             parseAxes(parser, "i", "o", kernel) || parser.parseArrow() ||
             parseAxes(parser, "b", "f", output)) {
    return failure();
  }
  dimensions = ConvDimensionNumbersAttr::get(
      parser.getContext(), input.first, input.second, input.spatial, kernel.first, kernel.second,
      kernel.spatial, output.first, output.second, output.spatial);
  return success();
}

void printConvolutionDimensions(AsmPrinter& printer, mlir::Operation*, ConvDimensionNumbersAttr d) {
  const bool isPlain =
      isPermutation(d.getInputBatchDimension(), d.getInputFeatureDimension(),
                    d.getInputSpatialDimensions()) &&
      isPermutation(d.getKernelInputFeatureDimension(), d.getKernelOutputFeatureDimension(),
                    d.getKernelSpatialDimensions()) &&
      isPermutation(d.getOutputBatchDimension(), d.getOutputFeatureDimension(),
                    d.getOutputSpatialDimensions());
  if (!isPlain) {
    printer << "raw input_batch_dimension = " << d.getInputBatchDimension()
            << ", input_feature_dimension = " << d.getInputFeatureDimension()
            << ", input_spatial_dimensions = " << spell(d.getInputSpatialDimensions())
            << ", kernel_input_feature_dimension = " << d.getKernelInputFeatureDimension()
            << ", kernel_output_feature_dimension = " << d.getKernelOutputFeatureDimension()
            << ", kernel_spatial_dimensions = " << spell(d.getKernelSpatialDimensions())
            << ", output_batch_dimension = " << d.getOutputBatchDimension()
            << ", output_feature_dimension = " << d.getOutputFeatureDimension()
            << ", output_spatial_dimensions = " << spell(d.getOutputSpatialDimensions());
    return;
  }
  printAxes(printer, d.getInputBatchDimension(), d.getInputFeatureDimension(),
            d.getInputSpatialDimensions(), "b", "f");
  printer << 'x';
  printAxes(printer, d.getKernelInputFeatureDimension(), d.getKernelOutputFeatureDimension(),
            d.getKernelSpatialDimensions(), "i", "o");
  printer << "->";
  printAxes(printer, d.getOutputBatchDimension(), d.getOutputFeatureDimension(),
            d.getOutputSpatialDimensions(), "b", "f");
}

mlir::Attribute ConvDimensionNumbersAttr::parse(AsmParser& parser, mlir::Type) {
  ConvDimensionNumbersAttr dimensions;
  if (parser.parseLess() || parseConvolutionDimensions(parser, dimensions) || parser.parseGreater())
    return {};
  return dimensions;
}

void ConvDimensionNumbersAttr::print(AsmPrinter& printer) const {
  printer << '<';
  printConvolutionDimensions(printer, nullptr, *this);
  printer << '>';
}

namespace {

/// Reads `[[0, 1], [2, 3]]` as elements of shape [n, 2].
ParseResult parsePadding(OpAsmParser& parser, mlir::DenseIntElementsAttr& padding) {
  IndexList pairs;
  const auto pair = [&]() -> ParseResult {
    return failure(parser.parseLSquare() || parser.parseInteger(pairs.emplace_back()) ||
                   parser.parseComma() || parser.parseInteger(pairs.emplace_back()) ||
                   parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, pair))
    return failure();
  padding = mlir::DenseIntElementsAttr::get(
      mlir::RankedTensorType::get({static_cast<std::int64_t>(pairs.size() / 2), 2},
                                  parser.getBuilder().getI64Type()),
      llvm::ArrayRef(pairs));
  return success();
}

ParseResult parseReversal(OpAsmParser& parser, mlir::DenseBoolArrayAttr& reversal) {
  llvm::SmallVector<bool> values;
  const auto one = [&]() -> ParseResult {
    std::int64_t number = 0;
    const mlir::OptionalParseResult found = parser.parseOptionalInteger(number);
    if (!found.has_value())
      return parseValue(parser, values.emplace_back());
    values.push_back(number != 0);
    return *found;
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, one))
    return failure();
  reversal = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

} // namespace

ParseResult parseWindowAttributes(OpAsmParser& parser, mlir::DenseI64ArrayAttr& strides,
                                  mlir::DenseIntElementsAttr& padding,
                                  mlir::DenseI64ArrayAttr& lhsDilation,
                                  mlir::DenseI64ArrayAttr& rhsDilation,
                                  mlir::DenseBoolArrayAttr& reversal) {
  const auto list = [&](mlir::DenseI64ArrayAttr& attribute) -> ParseResult {
    IndexList values;
    if (parseValue(parser, values))
      return failure();
    attribute = parser.getBuilder().getDenseI64ArrayAttr(values);
    return success();
  };
  llvm::StringRef name;
  if (failed(parser.parseOptionalKeyword(&name)))
    return success();
  while (true) {
    const llvm::SMLoc at = parser.getCurrentLocation();
    if (parser.parseEqual())
      return failure();
    ParseResult read = failure();
    bool isRepeated = false;
    if (name == "stride") {
      isRepeated = static_cast<bool>(strides);
      read = list(strides);
    } else if (name == "pad") {
      isRepeated = static_cast<bool>(padding);
      read = parsePadding(parser, padding);
    } else if (name == "lhs_dilate") {
      isRepeated = static_cast<bool>(lhsDilation);
      read = list(lhsDilation);
    } else if (name == "rhs_dilate") {
      isRepeated = static_cast<bool>(rhsDilation);
      read = list(rhsDilation);
    } else if (name == "reverse") {
      isRepeated = static_cast<bool>(reversal);
      read = parseReversal(parser, reversal);
    } else {
      return parser.emitError(at) << "expected stride, pad, lhs_dilate, rhs_dilate or reverse; "
                                     "found '"
                                  << name << "'";
    }
    if (read)
      return failure();
    if (isRepeated)
      return parser.emitError(at) << "'" << name << "' is given twice";
    // A comma may follow the last attribute, as in StableHLO's own parser.
    if (failed(parser.parseOptionalComma()) || failed(parser.parseOptionalKeyword(&name)))
      return success();
  }
}

void printWindowAttributes(OpAsmPrinter& printer, mlir::Operation*, mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal) {
  llvm::StringRef separator;
  const auto name = [&](llvm::StringRef text) -> OpAsmPrinter& {
    printer << separator << text << " = ";
    separator = ", ";
    return printer;
  };
  if (strides)
    name("stride") << spell(strides.asArrayRef());
  if (padding) {
    name("pad") << '[';
    const auto values = llvm::to_vector(padding.getValues<std::int64_t>());
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      printer << (i == 0 ? "" : ", ") << spell(IndexList{values[i], values[i + 1]});
    printer << ']';
  }
  if (lhsDilation)
    name("lhs_dilate") << spell(lhsDilation.asArrayRef());
  if (rhsDilation)
    name("rhs_dilate") << spell(rhsDilation.asArrayRef());
  if (reversal) {
    name("reverse") << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer,
                          [&](bool value) { printer << (value ? "true" : "false"); });
    printer << ']';
  }
}

} // namespace octavo::stablehlo
