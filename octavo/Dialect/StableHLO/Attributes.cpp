#include "octavo/Dialect/StableHLO/AttributeFields.h"
#include "octavo/Dialect/StableHLO/Dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "octavo/Dialect/StableHLO/Enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "octavo/Dialect/StableHLO/Types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/StableHLO/Attributes.cpp.inc"

namespace octavo::stablehlo {

using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::Attribute;

void StableHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "octavo/Dialect/StableHLO/Attributes.cpp.inc"
      >();
}

void StableHLODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "octavo/Dialect/StableHLO/Types.cpp.inc"
      >();
}

Attribute StableHLODialect::parseAttribute(mlir::DialectAsmParser& parser, mlir::Type type) const {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef mnemonic;
  Attribute attribute;
  const mlir::OptionalParseResult found =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (found.has_value())
    return succeeded(*found) ? attribute : Attribute();
  if (mnemonic != "type_extensions") {
    parser.emitError(at) << "unknown attribute '" << mnemonic << "' in dialect 'stablehlo'";
    return {};
  }
  if (parser.parseLess() || parser.parseKeyword("bounds") || parser.parseEqual())
    return {};
  const Attribute bounds = BoundsAttr::parseBounds(parser, AsmParser::Delimiter::Square);
  return bounds && succeeded(parser.parseGreater()) ? bounds : Attribute();
}

void StableHLODialect::printAttribute(Attribute attribute, mlir::DialectAsmPrinter& printer) const {
  [[maybe_unused]] const llvm::LogicalResult printed =
      generatedAttributePrinter(attribute, printer);
  assert(succeeded(printed) && "an attribute of the dialect must have a printer");
}

Attribute BoundsAttr::parseBounds(AsmParser& parser, AsmParser::Delimiter delimiter) {
  llvm::SmallVector<std::int64_t> bounds;
  const auto one = [&] {
    bounds.push_back(mlir::ShapedType::kDynamic);
    return succeeded(parser.parseOptionalQuestion()) ? mlir::success()
                                                     : parser.parseInteger(bounds.back());
  };
  if (parser.parseCommaSeparatedList(delimiter, one, " in bounds"))
    return {};
  return get(parser.getContext(), bounds);
}

Attribute BoundsAttr::parse(AsmParser& parser, mlir::Type) {
  return parseBounds(parser, AsmParser::Delimiter::LessGreater);
}

void BoundsAttr::print(AsmPrinter& printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](std::int64_t bound) {
    if (mlir::ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

llvm::LogicalResult
BoundsAttr::verifyEncoding(llvm::ArrayRef<std::int64_t> shape, mlir::Type,
                           llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "bounds must have one entry for each of " << shape.size()
                       << " axes; found " << getBounds().size();
  for (auto [axis, bound] : llvm::enumerate(getBounds())) {
    if (mlir::ShapedType::isDynamic(bound))
      continue;
    if (bound < 0)
      return emitError() << "bounds must not be negative; found " << bound << " for axis " << axis;
    if (!mlir::ShapedType::isDynamic(shape[axis]))
      return emitError() << "axis " << axis << " has the extent " << shape[axis]
                         << ", so it has no bound; found " << bound;
  }
  return mlir::success();
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser& parser, mlir::Type) {
  IndexList offset, collapsed, operandBatching, startBatching, startMap;
  std::int64_t indexVectorDim = 0;
  if (parseFields(parser, Presence::Optional,
                  {{"offset_dims", offset},
                   {"collapsed_slice_dims", collapsed},
                   {"operand_batching_dims", operandBatching},
                   {"start_indices_batching_dims", startBatching},
                   {"start_index_map", startMap},
                   {"index_vector_dim", indexVectorDim}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, startBatching, startMap,
             indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter& printer) const {
  FieldPrinter(printer)
      .optional("offset_dims", getOffsetDims())
      .optional("collapsed_slice_dims", getCollapsedSliceDims())
      .optional("operand_batching_dims", getOperandBatchingDims())
      .optional("start_indices_batching_dims", getStartIndicesBatchingDims())
      .optional("start_index_map", getStartIndexMap())
      .optional("index_vector_dim", getIndexVectorDim());
}

} // namespace octavo::stablehlo
