#include "octavo/Dialect/StableHLO/StableHLO.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <functional>

#include "octavo/Dialect/StableHLO/Enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "octavo/Dialect/StableHLO/Types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/StableHLO/Attributes.cpp.inc"

namespace octavo::stablehlo {

using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::Attribute;
using mlir::ParseResult;

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

namespace {

using Indices = llvm::SmallVector<std::int64_t>;

ParseResult parseValue(AsmParser& parser, Indices& indices) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(indices.emplace_back()); });
}
ParseResult parseValue(AsmParser& parser, std::int64_t& value) {
  return parser.parseInteger(value);
}
ParseResult parseValue(AsmParser& parser, mlir::Type& type) { return parser.parseType(type); }
ParseResult parseValue(AsmParser& parser, bool& value) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  value = keyword == "true";
  if (!value && keyword != "false")
    return parser.emitError(at) << "expected true or false; found '" << keyword << "'";
  return mlir::success();
}

/// A named field of `<name = value, ...>`; fields come in any order.
struct Field {
  template <typename T>
  Field(llvm::StringRef name, T& value)
      : name(name), parse([&value](AsmParser& parser) { return parseValue(parser, value); }) {}

  llvm::StringRef name;
  std::function<ParseResult(AsmParser&)> parse;
  bool seen = false;
};

enum class Presence { Optional, Required };

ParseResult parseFields(AsmParser& parser, Presence presence, std::vector<Field> fields) {
  const llvm::SMLoc start = parser.getCurrentLocation();
  const auto one = [&]() -> ParseResult {
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
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one))
    return mlir::failure();
  for (const Field& field : fields)
    if (presence == Presence::Required && !field.seen)
      return parser.emitError(start) << "field '" << field.name << "' is missing";
  return mlir::success();
}

/// Writes `<name = value, ...>`.
class FieldPrinter {
public:
  explicit FieldPrinter(AsmPrinter& printer) : printer(printer) { printer << '<'; }
  ~FieldPrinter() { printer << '>'; }

  template <typename T> FieldPrinter& field(llvm::StringRef name, const T& value) {
    printer << separator << name << " = " << value;
    separator = ", ";
    return *this;
  }
  /// A field that is left out where it has its default: no indices, or 0.
  FieldPrinter& optional(llvm::StringRef name, llvm::ArrayRef<std::int64_t> indices) {
    return indices.empty() ? *this : field(name, spell(indices));
  }
  FieldPrinter& optional(llvm::StringRef name, std::int64_t value) {
    return value == 0 ? *this : field(name, value);
  }

private:
  AsmPrinter& printer;
  llvm::StringRef separator;
};

} // namespace

Attribute DotDimensionNumbersAttr::parse(AsmParser& parser, mlir::Type) {
  Indices lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parseFields(parser, Presence::Optional,
                  {{"lhs_batching_dimensions", lhsBatching},
                   {"rhs_batching_dimensions", rhsBatching},
                   {"lhs_contracting_dimensions", lhsContracting},
                   {"rhs_contracting_dimensions", rhsContracting}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter& printer) const {
  FieldPrinter(printer)
      .optional("lhs_batching_dimensions", getLhsBatchingDimensions())
      .optional("rhs_batching_dimensions", getRhsBatchingDimensions())
      .optional("lhs_contracting_dimensions", getLhsContractingDimensions())
      .optional("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute DotAlgorithmAttr::parse(AsmParser& parser, mlir::Type) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  mlir::Type lhs, rhs, accumulation;
  std::int64_t lhsComponents = 0, rhsComponents = 0, operations = 0;
  bool allowImprecise = false;
  if (parseFields(parser, Presence::Required,
                  {{"lhs_precision_type", lhs},
                   {"rhs_precision_type", rhs},
                   {"accumulation_type", accumulation},
                   {"lhs_component_count", lhsComponents},
                   {"rhs_component_count", rhsComponents},
                   {"num_primitive_operations", operations},
                   {"allow_imprecise_accumulation", allowImprecise}}))
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), lhs, rhs,
                    accumulation, lhsComponents, rhsComponents, operations, allowImprecise);
}

void DotAlgorithmAttr::print(AsmPrinter& printer) const {
  FieldPrinter(printer)
      .field("lhs_precision_type", getLhsPrecisionType())
      .field("rhs_precision_type", getRhsPrecisionType())
      .field("accumulation_type", getAccumulationType())
      .field("lhs_component_count", getLhsComponentCount())
      .field("rhs_component_count", getRhsComponentCount())
      .field("num_primitive_operations", getNumPrimitiveOperations())
      .field("allow_imprecise_accumulation", getAllowImpreciseAccumulation() ? "true" : "false");
}

llvm::LogicalResult
DotAlgorithmAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::Type lhs,
                         mlir::Type rhs, mlir::Type accumulation, std::int64_t lhsComponents,
                         std::int64_t rhsComponents, std::int64_t operations, bool) {
  for (mlir::Type type : {lhs, rhs, accumulation})
    if (!isFloat(type) && !llvm::isa<mlir::FloatTF32Type>(type))
      return emitError() << "dot algorithm: a precision or accumulation type must be a float type "
                            "or tf32; found "
                         << type;
  const std::tuple<llvm::StringRef, llvm::StringRef, std::int64_t> counts[] = {
      {"C22", "lhs_component_count", lhsComponents},
      {"C23", "rhs_component_count", rhsComponents},
      {"C24", "num_primitive_operations", operations}};
  for (const auto& [rule, name, count] : counts)
    if (count < 1)
      return emitError() << "dot algorithm: (" << rule << ") " << name
                         << " must be positive; found " << count;
  return mlir::success();
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser& parser, mlir::Type) {
  Indices offset, collapsed, operandBatching, startBatching, startMap;
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

Attribute OutputOperandAliasAttr::parse(AsmParser& parser, mlir::Type) {
  Indices output, operandTuple;
  std::int64_t operand = 0;
  if (parseFields(parser, Presence::Required,
                  {{"output_tuple_indices", output},
                   {"operand_index", operand},
                   {"operand_tuple_indices", operandTuple}}))
    return {};
  return get(parser.getContext(), output, operand, operandTuple);
}

void OutputOperandAliasAttr::print(AsmPrinter& printer) const {
  FieldPrinter(printer)
      .field("output_tuple_indices", spell(getOutputTupleIndices()))
      .field("operand_index", getOperandIndex())
      .field("operand_tuple_indices", spell(getOperandTupleIndices()));
}

} // namespace octavo::stablehlo
