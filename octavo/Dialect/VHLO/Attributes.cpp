#include "octavo/Dialect/VHLO/Attributes.h"

#include "octavo/Dialect/StableHLO/StableHLO.h"
#include "octavo/Dialect/VHLO/Encoding.h"
#include "octavo/Dialect/VHLO/Operations.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

/// What StableHLO has in place of a tensor of i64, a tensor of booleans, a boolean, a string.
enum class Form : std::uint8_t { Same, Numbers, Booleans, Unit, Symbol, Symbols, ApiVersion };

/// What stands for an attribute that StableHLO leaves out.
enum class Default : std::uint8_t {
  None, ///< nothing: it is always there
  False,
  Zero32,
  MinusOne,
  Original, ///< the API version of custom calls
  NoText,
  NoElements,      ///< of an array
  NoEntries,       ///< of a dictionary
  NoTextOrEntries, ///< a dictionary under API_VERSION_TYPED_FFI
  NoNumbers,       ///< of a tensor of rank 1
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
  llvm::StringLiteral stem = ""; ///< of the one operation that this is said of; empty: of all
};

constexpr AttributeRow kRows[] = {
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
    {"version", Form::Same, Default::Zero32, "composite"},
    {"window_dilations", Form::Numbers, Default::Ones},
    {"window_dimensions", Form::Numbers},
    {"window_reversal", Form::Booleans, Default::AllFalse},
    {"window_strides", Form::Numbers, Default::Ones},
};

const AttributeRow* findRow(llvm::StringRef stem, llvm::StringRef name) {
  for (const AttributeRow& row : kRows)
    if (row.name == name && (row.stem.empty() || row.stem == stem))
      return &row;
  return nullptr;
}

/// A structure of StableHLO, `#stablehlo.gather<offset_dims = [1], ..., index_vector_dim = 1>`,
/// each part of which is an attribute in VHLO. It is read and written by its text, so that nothing
/// here changes with the class that the dialect has for it.
struct Structure {
  llvm::StringLiteral stem;
  llvm::StringLiteral name;
  llvm::StringLiteral mnemonic;
  llvm::ArrayRef<llvm::StringLiteral> lists;
  llvm::StringLiteral number; ///< empty if it has none
};

constexpr llvm::StringLiteral kDotLists[] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                             "lhs_contracting_dimensions",
                                             "rhs_contracting_dimensions"};
constexpr llvm::StringLiteral kGatherLists[] = {"offset_dims", "collapsed_slice_dims",
                                                "operand_batching_dims",
                                                "start_indices_batching_dims", "start_index_map"};
constexpr llvm::StringLiteral kScatterLists[] = {
    "update_window_dims", "inserted_window_dims", "input_batching_dims",
    "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

const Structure kStructures[] = {
    {"dot_general", "dot_dimension_numbers", "dot", kDotLists, ""},
    {"gather", "dimension_numbers", "gather", kGatherLists, "index_vector_dim"},
    {"dynamic_gather", "dimension_numbers", "gather", kGatherLists, "index_vector_dim"},
    {"scatter", "scatter_dimension_numbers", "scatter", kScatterLists, "index_vector_dim"},
};

using Numbers = llvm::SmallVector<std::int64_t>;

/// The numbers of an attribute that is a tensor of i64; nothing if it is none.
std::optional<Numbers> numbersOf(Attribute attribute) {
  const auto dense = llvm::dyn_cast_or_null<mlir::DenseIntElementsAttr>(attribute);
  if (!dense || !dense.getElementType().isSignlessInteger(64))
    return std::nullopt;
  return llvm::to_vector(dense.getValues<std::int64_t>());
}

std::optional<std::int64_t> numberOf(Attribute attribute) {
  const auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attribute);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

Attribute tensorOf(mlir::Builder& builder, llvm::ArrayRef<std::int64_t> numbers) {
  return builder.getI64TensorAttr(numbers);
}

std::string listText(llvm::ArrayRef<std::int64_t> numbers) {
  return "[" +
         llvm::join(llvm::map_range(numbers, [](std::int64_t n) { return std::to_string(n); }),
                    ", ") +
         "]";
}

/// `name = [1, 2]` in a structure's text; nothing is an empty list.
Numbers listIn(llvm::StringRef text, llvm::StringRef name) {
  Numbers numbers;
  const std::size_t at = text.find((name + " = [").str());
  if (at == llvm::StringRef::npos)
    return numbers;
  llvm::SmallVector<llvm::StringRef> parts;
  text.drop_front(at + name.size() + 4).split(']').first.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts)
    part.trim().getAsInteger(10, numbers.emplace_back());
  return numbers;
}

/// `name = 1` in a structure's text; nothing is 0.
std::int64_t numberIn(llvm::StringRef text, llvm::StringRef name) {
  std::int64_t number = 0;
  const std::size_t at = text.find((name + " = ").str());
  if (at != llvm::StringRef::npos)
    text.drop_front(at + name.size() + 3)
        .take_until([](char c) { return c == ',' || c == '>'; })
        .getAsInteger(10, number);
  return number;
}

std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

LogicalResult addParsed(mlir::NamedAttrList& attributes, llvm::StringRef name,
                        const std::string& text, mlir::MLIRContext* context, EmitError emitError) {
  Attribute attribute;
  {
    const mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic&) {});
    attribute = mlir::parseAttribute(text, context);
  }
  if (!attribute)
    return emitError() << "octavo does not know the attribute " << text;
  attributes.set(name, attribute);
  return success();
}

Attribute take(mlir::NamedAttrList& attributes, llvm::StringRef name) {
  return attributes.erase(name);
}

//===-- Convolutions
//------------------------------------------------------------------------------===//

struct ConvolutionSide {
  llvm::StringLiteral first, second; ///< attributes of the two axes that are not spatial
  char firstLetter, secondLetter;
  llvm::StringLiteral spatial;
};
constexpr ConvolutionSide kConvolutionSides[] = {
    {"input_batch_dimension", "input_feature_dimension", 'b', 'f', "input_spatial_dimensions"},
    {"kernel_input_feature_dimension", "kernel_output_feature_dimension", 'i', 'o',
     "kernel_spatial_dimensions"},
    {"output_batch_dimension", "output_feature_dimension", 'b', 'f', "output_spatial_dimensions"},
};

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
LogicalResult joinConvolution(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                              EmitError emitError) {
  std::string text = "#stablehlo.conv<";
  constexpr llvm::StringLiteral kBetween[] = {"x", "->", ">"};
  for (const auto& [side, between] : llvm::zip_equal(kConvolutionSides, kBetween)) {
    const std::optional<std::int64_t> first = numberOf(take(attributes, side.first));
    const std::optional<std::int64_t> second = numberOf(take(attributes, side.second));
    const std::optional<Numbers> spatial = numbersOf(take(attributes, side.spatial));
    if (!first || !second || !spatial)
      return emitError() << "the dimension numbers of a convolution are not complete";
    std::vector<std::string> letters(spatial->size() + 2);
    const auto place = [&](std::int64_t axis, std::string letter) {
      if (axis < 0 || axis >= static_cast<std::int64_t>(letters.size()) || !letters[axis].empty())
        return false;
      letters[axis] = std::move(letter);
      return true;
    };
    bool fits = place(*first, {side.firstLetter}) && place(*second, {side.secondLetter});
    for (const auto& [i, axis] : llvm::enumerate(*spatial))
      fits = fits && place(axis, std::to_string(i));
    if (!fits)
      return emitError() << "the dimension numbers of a convolution are not a permutation";
    text += "[" + llvm::join(letters, ", ") + "]" + between.str();
  }
  return addParsed(attributes, "dimension_numbers", text, context, emitError);
}

LogicalResult splitConvolution(mlir::NamedAttrList& attributes, mlir::Builder& builder,
                               EmitError emitError) {
  const std::string text = textOf(take(attributes, "dimension_numbers"));
  llvm::StringRef rest = text;
  for (const ConvolutionSide& side : kConvolutionSides) {
    const std::size_t open = rest.find('['), close = rest.find(']');
    if (open == llvm::StringRef::npos || close == llvm::StringRef::npos || close < open)
      return emitError() << "octavo does not know the dimension numbers " << text;
    llvm::SmallVector<llvm::StringRef> letters;
    rest.slice(open + 1, close).split(letters, ',');
    rest = rest.drop_front(close + 1);
    Numbers spatial(letters.size() < 2 ? 0 : letters.size() - 2, 0);
    for (const auto& [axis, padded] : llvm::enumerate(letters)) {
      const llvm::StringRef letter = padded.trim();
      std::size_t position = 0;
      const auto number = static_cast<std::int64_t>(axis);
      if (letter == llvm::StringRef(&side.firstLetter, 1))
        attributes.set(side.first, builder.getI64IntegerAttr(number));
      else if (letter == llvm::StringRef(&side.secondLetter, 1))
        attributes.set(side.second, builder.getI64IntegerAttr(number));
      else if (!letter.getAsInteger(10, position) && position < spatial.size())
        spatial[position] = number;
      else
        return emitError() << "octavo does not know the dimension numbers " << text;
    }
    attributes.set(side.spatial, tensorOf(builder, spatial));
  }
  return success();
}

//===-- Dots
//--------------------------------------------------------------------------------------===//

constexpr llvm::StringLiteral kAlgorithm[] = {
    "lhs_precision_type",          "rhs_precision_type",  "accumulation_type",
    "lhs_component_count",         "rhs_component_count", "num_primitive_operations",
    "allow_imprecise_accumulation"};

bool isNone(Attribute attribute) {
  const auto type = llvm::dyn_cast_or_null<mlir::TypeAttr>(attribute);
  return type && llvm::isa<mlir::NoneType>(type.getValue());
}

/// Absent before 1.6.0; seven times the type `none` where there is no algorithm.
LogicalResult joinAlgorithm(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                            EmitError emitError) {
  llvm::SmallVector<Attribute> parts;
  for (llvm::StringRef name : kAlgorithm)
    parts.push_back(take(attributes, name));
  if (llvm::all_of(parts, [](Attribute part) { return !part || isNone(part); }))
    return success();
  if (llvm::any_of(parts, [](Attribute part) { return !part || isNone(part); }))
    return emitError() << "the algorithm of a dot is not complete";
  std::string text = "#stablehlo.dot_algorithm<";
  for (const auto& [i, name, part] : llvm::enumerate(kAlgorithm, parts)) {
    std::string value;
    if (auto type = llvm::dyn_cast<mlir::TypeAttr>(part))
      llvm::raw_string_ostream(value) << type.getValue();
    else if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(part))
      value = flag.getValue() ? "true" : "false";
    else if (const std::optional<std::int64_t> number = numberOf(part))
      value = std::to_string(*number);
    text += (i ? ", " : "") + name.str() + " = " + value;
  }
  return addParsed(attributes, "algorithm", text + ">", context, emitError);
}

void splitAlgorithm(mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto algorithm =
      llvm::dyn_cast_or_null<stablehlo::DotAlgorithmAttr>(take(attributes, "algorithm"));
  if (!algorithm) {
    const auto none = mlir::TypeAttr::get(builder.getNoneType());
    for (llvm::StringRef name : kAlgorithm)
      attributes.set(name, none);
    return;
  }
  const Attribute parts[] = {mlir::TypeAttr::get(algorithm.getLhsPrecisionType()),
                             mlir::TypeAttr::get(algorithm.getRhsPrecisionType()),
                             mlir::TypeAttr::get(algorithm.getAccumulationType()),
                             builder.getI64IntegerAttr(algorithm.getLhsComponentCount()),
                             builder.getI64IntegerAttr(algorithm.getRhsComponentCount()),
                             builder.getI64IntegerAttr(algorithm.getNumPrimitiveOperations()),
                             builder.getBoolAttr(algorithm.getAllowImpreciseAccumulation())};
  for (const auto& [name, part] : llvm::zip_equal(kAlgorithm, parts))
    attributes.set(name, part);
}

//===-- Channels
//----------------------------------------------------------------------------------===//

/// Operations that may be without a channel; the type of theirs is not kept.
bool isCollective(llvm::StringRef stem) { return stem != "send" && stem != "recv"; }

LogicalResult joinChannel(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                          mlir::MLIRContext* context, EmitError emitError) {
  const Attribute id = take(attributes, "channel_id");
  const Attribute type = take(attributes, "channel_type");
  if (!id)
    return success();
  const std::optional<std::int64_t> handle = numberOf(id);
  if (!handle)
    return emitError() << "a channel is not a number";
  if (isCollective(stem) && *handle == 0)
    return success();
  return addParsed(attributes, "channel_handle",
                   "#stablehlo.channel_handle<handle = " + std::to_string(*handle) +
                       ", type = " + std::to_string(numberOf(type).value_or(0)) + ">",
                   context, emitError);
}

void splitChannel(llvm::StringRef stem, mlir::NamedAttrList& attributes, mlir::Builder& builder,
                  bool has) {
  if (!has)
    return;
  const Attribute handle = take(attributes, "channel_handle");
  const std::string text = handle ? textOf(handle) : "";
  attributes.set("channel_id", builder.getI64IntegerAttr(numberIn(text, "handle")));
  if (!isCollective(stem))
    attributes.set("channel_type", builder.getI64IntegerAttr(numberIn(text, "type")));
}

//===-- Forms and defaults
//------------------------------------------------------------------------===//

/// The value in StableHLO's form; null if it cannot be that.
Attribute fromPortable(Form form, Attribute value, mlir::MLIRContext* context) {
  switch (form) {
  case Form::Same:
  case Form::ApiVersion:
    return value;
  case Form::Numbers: {
    const std::optional<Numbers> numbers = numbersOf(value);
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
      return tensorOf(builder, numbers.asArrayRef());
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
    return vhloEnumerator(builder.getContext(), "api_version",
                          apiVersionName(numberOf(value).value_or(0)));
  case Form::Same:
  case Form::Symbol:
  case Form::Symbols:
    return value;
  }
  return value;
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
  case Default::Zero32:
    return number(0);
  case Default::MinusOne:
    return number(-1);
  case Default::Original:
    return number(1) ||
           value == vhloEnumerator(value.getContext(), "api_version", apiVersionName(1));
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
    return textOf(value) == "#stablehlo<comparison_type NOTYPE>";
  case Default::Precision:
    return array && llvm::all_of(array, [](Attribute precision) {
             return textOf(precision) == "#stablehlo<precision DEFAULT>";
           });
  case Default::Accuracy:
    return value == defaultAccuracy(value.getContext());
  }
  return false;
}

/// Dimensions of an operation's window, or of what stands for one.
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
  case Default::Zero32:
    return builder.getI32IntegerAttr(0);
  case Default::MinusOne:
    return builder.getI64IntegerAttr(-1);
  case Default::Original:
    return vhloEnumerator(builder.getContext(), "api_version", apiVersionName(1));
  case Default::NoText:
    return builder.getStringAttr("");
  case Default::NoElements:
    return builder.getArrayAttr({});
  case Default::NoEntries:
    return builder.getDictionaryAttr({});
  case Default::NoTextOrEntries:
    if (numberOf(op->getAttr("api_version")).value_or(1) == 4)
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
    return mlir::parseAttribute("#stablehlo<comparison_type NOTYPE>", builder.getContext());
  case Default::Precision: {
    const Attribute precision =
        mlir::parseAttribute("#stablehlo<precision DEFAULT>", builder.getContext());
    return builder.getArrayAttr({precision, precision});
  }
  case Default::Accuracy:
    return defaultAccuracy(builder.getContext());
  }
  return {};
}

bool isConvolution(llvm::StringRef stem) { return stem == "convolution" || stem == "dynamic_conv"; }

} // namespace

bool isDefault(llvm::StringRef stem, llvm::StringRef name, Attribute value) {
  if (llvm::is_contained(kAlgorithm, name))
    return isNone(value);
  const bool isBatching = name.ends_with("batching_dims");
  if (isBatching && (stem == "gather" || stem == "dynamic_gather" || stem == "scatter"))
    return isDefaultOf(Default::NoNumbers, value);
  const AttributeRow* row = findRow(stem, name);
  return row && isDefaultOf(row->absent, value);
}

LogicalResult toStableHLO(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                          mlir::MLIRContext* context, EmitError emitError) {
  for (const Structure& structure : kStructures) {
    if (structure.stem != stem)
      continue;
    std::string text = ("#stablehlo." + structure.mnemonic + "<").str();
    for (const auto& [i, name] : llvm::enumerate(structure.lists)) {
      const Attribute part = take(attributes, name);
      const std::optional<Numbers> numbers = part ? numbersOf(part) : Numbers();
      if (!numbers)
        return emitError() << name << " is not a list of numbers";
      if (!numbers->empty())
        text += (text.back() == '<' ? "" : ", ") + name.str() + " = " + listText(*numbers);
    }
    if (!structure.number.empty()) {
      const std::optional<std::int64_t> number = numberOf(take(attributes, structure.number));
      if (!number)
        return emitError() << structure.number << " is not a number";
      text += (text.back() == '<' ? "" : ", ") + structure.number.str() + " = " +
              std::to_string(*number);
    }
    if (failed(addParsed(attributes, structure.name, text + ">", context, emitError)))
      return failure();
  }
  if (isConvolution(stem) && failed(joinConvolution(attributes, context, emitError)))
    return failure();
  if (stem == "dot_general" && failed(joinAlgorithm(attributes, context, emitError)))
    return failure();
  if (failed(joinChannel(stem, attributes, context, emitError)))
    return failure();

  // Layouts are left out together or not at all.
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
      return emitError() << named.getName() << " cannot be " << named.getValue();
    result.append(named.getName(), value);
  }
  attributes = std::move(result);
  return success();
}

LogicalResult toVHLO(llvm::StringRef stem, mlir::Operation* op, mlir::NamedAttrList& attributes,
                     EmitError emitError) {
  mlir::Builder builder(op->getContext());
  for (const Structure& structure : kStructures) {
    if (structure.stem != stem)
      continue;
    const std::string text = textOf(take(attributes, structure.name));
    for (llvm::StringRef name : structure.lists)
      attributes.set(name, tensorOf(builder, listIn(text, name)));
    if (!structure.number.empty())
      attributes.set(structure.number, builder.getI64IntegerAttr(numberIn(text, structure.number)));
  }
  if (isConvolution(stem) && failed(splitConvolution(attributes, builder, emitError)))
    return failure();
  if (stem == "dot_general")
    splitAlgorithm(attributes, builder);
  const llvm::SmallVector<llvm::StringRef> names = newestOperation(stem)->attributeNames();
  splitChannel(stem, attributes, builder, llvm::is_contained(names, "channel_id"));
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
