#include "octavo/Dialect/VHLO/Attributes.h"

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Operations.h"
#include "octavo/Dialect/VHLO/Structures.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

/// The form of an attribute in StableHLO. In VHLO, Numbers and Booleans are tensors, Unit is a
/// boolean, Symbol is a string.
enum class Form : std::uint8_t { Same, Numbers, Booleans, Unit, Symbol, Symbols, ApiVersion };

/// The value in VHLO of an attribute that StableHLO omits.
enum class Default : std::uint8_t {
  None, ///< StableHLO never omits it
  False,
  Zero64,
  MinusOne,
  Original, ///< API_VERSION_ORIGINAL of custom calls
  NoText,
  NoElements,      ///< an empty array
  NoEntries,       ///< an empty dictionary
  NoTextOrEntries, ///< an empty string; an empty dictionary under API_VERSION_TYPED_FFI
  NoNumbers,       ///< an empty tensor of rank 1
  NoPairs,
  Ones,      ///< one a dimension of the window
  AllFalse,  ///< one a dimension of the window
  NoPadding, ///< two zeros a dimension of the window
  NoType,
  Precision,
  Accuracy,
};

struct AttributeRow {
  llvm::StringLiteral name;
  Form form;
  Default absent = Default::None;
  llvm::StringLiteral stem = ""; ///< of the only operation with this row; empty: every operation
};

constexpr AttributeRow kAttributeRows[] = {
    {"api_version", Form::ApiVersion, Default::Original},
    {"backend_config", Form::Same, Default::NoTextOrEntries},
    {"base_dilations", Form::Numbers, Default::Ones},
    {"broadcast_dimensions", Form::Numbers},
    {"broadcast_sizes", Form::Numbers},
    {"called_computations", Form::Symbols, Default::NoElements},
    {"callee", Form::Symbol},
    {"compare_type", Form::Same, Default::NoType},
    {"composite_attributes", Form::Same, Default::NoEntries},
    {"decomposition", Form::Symbol},
    {"dimension", Form::Same, Default::MinusOne, "sort"},
    {"dimensions", Form::Numbers},
    {"edge_padding_high", Form::Numbers},
    {"edge_padding_low", Form::Numbers},
    {"fft_length", Form::Numbers},
    {"has_dynamic_root", Form::Unit, Default::False},
    {"has_side_effect", Form::Same, Default::False},
    {"indices_are_sorted", Form::Same, Default::False},
    {"infeed_config", Form::Same, Default::NoText},
    {"interior_padding", Form::Numbers},
    {"is_host_transfer", Form::Same, Default::False},
    {"is_stable", Form::Same, Default::False},
    {"known_expanding_dimensions", Form::Numbers, Default::NoNumbers},
    {"known_nonexpanding_dimensions", Form::Numbers, Default::NoNumbers},
    {"layout", Form::Same, Default::NoElements},
    {"lhs_dilation", Form::Numbers, Default::Ones},
    {"limit_indices", Form::Numbers},
    {"lower", Form::Same, Default::False, "cholesky"},
    {"operand_layouts", Form::Same, Default::NoElements},
    {"outfeed_config", Form::Same, Default::NoText},
    {"output_operand_aliases", Form::Same, Default::NoElements},
    {"padding", Form::Same, Default::NoPadding},
    {"permutation", Form::Numbers},
    {"precision_config", Form::Same, Default::Precision},
    {"result_accuracy", Form::Same, Default::Accuracy},
    {"result_layouts", Form::Same, Default::NoElements},
    {"result_tilings", Form::Same, Default::NoElements},
    {"rhs_dilation", Form::Numbers, Default::Ones},
    {"slice_sizes", Form::Numbers},
    {"source_target_pairs", Form::Same, Default::NoPairs, "recv"},
    {"source_target_pairs", Form::Same, Default::NoPairs, "send"},
    {"start_indices", Form::Numbers},
    {"strides", Form::Numbers},
    {"unique_indices", Form::Same, Default::False},
    {"use_global_device_ids", Form::Unit, Default::False},
    {"version", Form::Same, Default::Zero64, "composite"},
    {"window_dilations", Form::Numbers, Default::Ones},
    {"window_dimensions", Form::Numbers},
    {"window_reversal", Form::Booleans, Default::AllFalse},
    {"window_strides", Form::Numbers, Default::Ones},
};

const AttributeRow* findRow(llvm::StringRef stem, llvm::StringRef name) {
  for (const AttributeRow& row : kAttributeRows)
    if (row.name == name && (row.stem.empty() || row.stem == stem))
      return &row;
  return nullptr;
}

/// Converts a value to StableHLO's form; null if it has another type.
Attribute fromPortable(Form form, Attribute value, mlir::MLIRContext* context) {
  switch (form) {
  case Form::Same:
  case Form::ApiVersion:
    return value;
  case Form::Numbers: {
    const auto numbers = numbersOf(value);
    return numbers ? mlir::DenseI64ArrayAttr::get(context, *numbers) : Attribute();
  }
  case Form::Booleans: {
    const auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(value);
    if (!dense || !dense.getElementType().isInteger(1))
      return {};
    return mlir::DenseBoolArrayAttr::get(context, llvm::to_vector(dense.getValues<bool>()));
  }
  case Form::Unit:
    return llvm::isa<mlir::BoolAttr>(value) ? mlir::UnitAttr::get(context) : Attribute();
  case Form::Symbol: {
    const auto text = llvm::dyn_cast<mlir::StringAttr>(value);
    return text && !text.empty() ? mlir::FlatSymbolRefAttr::get(text) : Attribute();
  }
  case Form::Symbols: {
    const auto array = llvm::dyn_cast<mlir::ArrayAttr>(value);
    llvm::SmallVector<Attribute> symbols;
    for (const Attribute element : array ? array.getValue() : llvm::ArrayRef<Attribute>())
      if (Attribute symbol = fromPortable(Form::Symbol, element, context))
        symbols.push_back(symbol);
    return array && symbols.size() == array.size() ? mlir::ArrayAttr::get(context, symbols)
                                                   : Attribute();
  }
  }
  return {};
}

Attribute toPortable(Form form, Attribute value, mlir::Builder& builder) {
  switch (form) {
  case Form::Numbers:
    if (auto numbers = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(value))
      return builder.getI64TensorAttr(numbers.asArrayRef());
    return value;
  case Form::Booleans:
    if (auto flags = llvm::dyn_cast<mlir::DenseBoolArrayAttr>(value))
      return mlir::DenseElementsAttr::get(
          mlir::RankedTensorType::get({static_cast<std::int64_t>(flags.size())},
                                      builder.getI1Type()),
          flags.asArrayRef());
    return value;
  case Form::Unit:
    return builder.getBoolAttr(true);
  case Form::ApiVersion:
    return ApiVersionAttribute::get(llvm::cast<mlir::IntegerAttr>(value));
  case Form::Same:
  case Form::Symbol:
  case Form::Symbols:
    return value;
  }
  return value;
}

constexpr auto kOriginal =
    static_cast<std::int32_t>(stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL);
constexpr auto kTypedFfi =
    static_cast<std::int32_t>(stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI);

Attribute defaultAccuracy(mlir::MLIRContext* context) {
  return stablehlo::ResultAccuracyAttr::ofMode(context, stablehlo::ResultAccuracyMode::DEFAULT);
}

bool isSplatOf(Attribute value, std::int64_t number) {
  const auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(value);
  return dense &&
         (dense.empty() || (dense.isSplat() && dense.getSplatValue<llvm::APInt>().getZExtValue() ==
                                                   static_cast<std::uint64_t>(number)));
}

bool isDefaultOf(Default absent, Attribute value) {
  const auto number = [&](std::int64_t expected) {
    const std::optional<std::int64_t> found = numberOf(value);
    return found && *found == expected;
  };
  const auto text = llvm::dyn_cast<mlir::StringAttr>(value);
  const auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(value);
  const auto array = llvm::dyn_cast<mlir::ArrayAttr>(value);
  switch (absent) {
  case Default::None:
    return false;
  case Default::False:
    return value == mlir::BoolAttr::get(value.getContext(), false);
  case Default::Zero64: // an i32 was written in the program, so it is not the default
    return number(0) && llvm::cast<mlir::IntegerAttr>(value).getType().isInteger(64);
  case Default::MinusOne:
    return number(-1);
  case Default::Original:
    return number(kOriginal);
  case Default::NoText:
    return text && text.empty();
  case Default::NoElements:
    return array && array.empty();
  case Default::NoEntries:
    return dictionary && dictionary.empty();
  case Default::NoTextOrEntries:
    return (text && text.empty()) || (dictionary && dictionary.empty());
  case Default::NoNumbers:
  case Default::NoPairs: {
    const auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
    return dense && dense.empty();
  }
  case Default::Ones:
    return isSplatOf(value, 1);
  case Default::AllFalse:
  case Default::NoPadding:
    return isSplatOf(value, 0);
  case Default::NoType:
    return value == stablehlo::ComparisonTypeAttr::get(value.getContext(),
                                                       stablehlo::ComparisonType::NOTYPE);
  case Default::Precision:
    return array && llvm::all_of(array, [](Attribute element) {
             const auto precision = llvm::dyn_cast<stablehlo::PrecisionAttr>(element);
             return precision && precision.getValue() == stablehlo::Precision::DEFAULT;
           });
  case Default::Accuracy:
    return value == defaultAccuracy(value.getContext());
  }
  return false;
}

/// The rank of an operation's window, or of its spatial dimensions.
std::int64_t windowRank(llvm::StringRef stem, mlir::Operation* op) {
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getOperand(0).getType());
  const std::int64_t rank = type ? type.getRank() : 0;
  return stem == "convolution" || stem == "dynamic_conv" ? rank - 2 : rank;
}

Attribute defaultValue(Default absent, llvm::StringRef stem, mlir::Operation* op,
                       mlir::Builder& builder) {
  const auto splat = [&](llvm::ArrayRef<std::int64_t> shape, std::int64_t value) -> Attribute {
    const auto type = mlir::RankedTensorType::get(shape, builder.getI64Type());
    return mlir::DenseElementsAttr::get(type, value);
  };
  switch (absent) {
  case Default::None:
    return {};
  case Default::False:
    return builder.getBoolAttr(false);
  case Default::Zero64:
    return builder.getI64IntegerAttr(0);
  case Default::MinusOne:
    return builder.getI64IntegerAttr(-1);
  case Default::Original:
    return ApiVersionAttribute::get(builder.getI32IntegerAttr(kOriginal));
  case Default::NoText:
    return builder.getStringAttr("");
  case Default::NoElements:
    return builder.getArrayAttr({});
  case Default::NoEntries:
    return builder.getDictionaryAttr({});
  case Default::NoTextOrEntries:
    if (numberOf(op->getAttr("api_version")) == kTypedFfi)
      return builder.getDictionaryAttr({});
    return builder.getStringAttr("");
  case Default::NoNumbers:
    return splat({0}, 0);
  case Default::NoPairs:
    return splat({0}, 0);
  case Default::Ones:
    return splat({windowRank(stem, op)}, 1);
  case Default::AllFalse:
    return mlir::DenseElementsAttr::get(
        mlir::RankedTensorType::get({windowRank(stem, op)}, builder.getI1Type()), false);
  case Default::NoPadding:
    return splat({windowRank(stem, op), 2}, 0);
  case Default::NoType:
    return stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                              stablehlo::ComparisonType::NOTYPE);
  case Default::Precision: {
    const Attribute precision =
        stablehlo::PrecisionAttr::get(builder.getContext(), stablehlo::Precision::DEFAULT);
    return builder.getArrayAttr({precision, precision});
  }
  case Default::Accuracy:
    return defaultAccuracy(builder.getContext());
  }
  return {};
}

} // namespace

bool isDefault(llvm::StringRef stem, llvm::StringRef name, Attribute value) {
  if (isNoAlgorithm(name, value))
    return true;
  const bool isBatching = name.ends_with("batching_dims");
  if (isBatching && (stem == "gather" || stem == "dynamic_gather" || stem == "scatter"))
    return isDefaultOf(Default::NoNumbers, value);
  const AttributeRow* row = findRow(stem, name);
  return row && isDefaultOf(row->absent, value);
}

LogicalResult toStableHLO(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                          mlir::MLIRContext* context, EmitError emitError) {
  if (failed(joinStructures(stem, attributes, context, emitError)))
    return failure();

  // Operand and result layouts are omitted together or not at all.
  const auto isEmpty = [&](llvm::StringRef name) {
    const auto array = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attributes.get(name));
    return array && array.empty();
  };
  const bool keepsLayouts =
      stem == "custom_call" && !(isEmpty("operand_layouts") && isEmpty("result_layouts"));
  mlir::NamedAttrList result;
  for (const mlir::NamedAttribute named : attributes) {
    const AttributeRow* row = findRow(stem, named.getName());
    if (row && isDefaultOf(row->absent, named.getValue()) &&
        !(keepsLayouts && named.getName().strref().ends_with("_layouts")))
      continue;
    const Attribute value =
        row ? fromPortable(row->form, named.getValue(), context) : named.getValue();
    if (!value)
      return emitError() << named.getName().strref() << " cannot be " << named.getValue();
    result.append(named.getName(), value);
  }
  attributes = std::move(result);
  return success();
}

LogicalResult toVHLO(llvm::StringRef stem, mlir::Operation* op, mlir::NamedAttrList& attributes,
                     EmitError emitError) {
  mlir::Builder builder(op->getContext());
  splitStructures(stem, attributes, builder);
  const llvm::SmallVector<llvm::StringRef> names = newestOperation(stem)->attributeNames();
  for (llvm::StringRef name : names) {
    const AttributeRow* row = findRow(stem, name);
    const Attribute value = attributes.get(name);
    if (value && row)
      attributes.set(name, toPortable(row->form, value, builder));
    else if (!value && row && row->absent != Default::None)
      attributes.set(name, defaultValue(row->absent, stem, op, builder));
    else if (!value)
      return emitError() << "has no attribute " << name << ", which artifacts need";
  }
  return success();
}

} // namespace octavo::vhlo
