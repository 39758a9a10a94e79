#include "octavo/Dialect/VHLO/Structures.h"

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Operations.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using Numbers = llvm::SmallVector<std::int64_t>;
using NumbersRef = llvm::ArrayRef<std::int64_t>;

/// Takes the parts of a structure out of an operation's attributes.
class Parts {
public:
  Parts(mlir::NamedAttrList& attributes, EmitError emitError)
      : attributes(attributes), emitError(emitError) {}

  Numbers list(llvm::StringRef name) {
    if (const std::optional<Numbers> numbers = numbersOf(attributes.erase(name)))
      return *numbers;
    static_cast<void>(emitError() << name << " is not a list of numbers");
    isComplete = false;
    return {};
  }
  /// A list that older versions of VHLO do not have; empty if absent.
  Numbers laterList(llvm::StringRef name) { return attributes.get(name) ? list(name) : Numbers(); }
  std::int64_t number(llvm::StringRef name) {
    if (const std::optional<std::int64_t> number = numberOf(attributes.erase(name)))
      return *number;
    static_cast<void>(emitError() << name << " is not a number");
    isComplete = false;
    return 0;
  }

  /// Sets the attribute `name` to the structure. Fails if a part was missing or invalid.
  LogicalResult become(llvm::StringRef name, Attribute structure) {
    if (!isComplete)
      return failure();
    attributes.set(name, structure);
    return success();
  }

private:
  mlir::NamedAttrList& attributes;
  EmitError emitError;
  bool isComplete = true;
};

void setList(mlir::NamedAttrList& attributes, mlir::Builder& builder, llvm::StringRef name,
             NumbersRef numbers) {
  attributes.set(name, builder.getI64TensorAttr(numbers));
}
void setNumber(mlir::NamedAttrList& attributes, mlir::Builder& builder, llvm::StringRef name,
               std::int64_t number) {
  attributes.set(name, builder.getI64IntegerAttr(number));
}

/// Removes a required structure from the attributes and returns it.
template <typename Structure>
Structure takeStructure(mlir::NamedAttrList& attributes, llvm::StringRef name) {
  return llvm::cast<Structure>(attributes.erase(name));
}

// Gather and scatter

bool isGather(llvm::StringRef stem) { return stem == "gather" || stem == "dynamic_gather"; }

LogicalResult joinGather(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                         EmitError emitError) {
  Parts parts(attributes, emitError);
  const Numbers offset = parts.list("offset_dims");
  const Numbers collapsed = parts.list("collapsed_slice_dims");
  const Numbers batching = parts.laterList("operand_batching_dims");
  const Numbers startBatching = parts.laterList("start_indices_batching_dims");
  const Numbers map = parts.list("start_index_map");
  const std::int64_t vector = parts.number("index_vector_dim");
  return parts.become("dimension_numbers",
                      stablehlo::GatherDimensionNumbersAttr::get(
                          context, offset, collapsed, batching, startBatching, map, vector));
}

void splitGather(mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto dimensions =
      takeStructure<stablehlo::GatherDimensionNumbersAttr>(attributes, "dimension_numbers");
  setList(attributes, builder, "offset_dims", dimensions.getOffsetDims());
  setList(attributes, builder, "collapsed_slice_dims", dimensions.getCollapsedSliceDims());
  setList(attributes, builder, "operand_batching_dims", dimensions.getOperandBatchingDims());
  setList(attributes, builder, "start_indices_batching_dims",
          dimensions.getStartIndicesBatchingDims());
  setList(attributes, builder, "start_index_map", dimensions.getStartIndexMap());
  setNumber(attributes, builder, "index_vector_dim", dimensions.getIndexVectorDim());
}

LogicalResult joinScatter(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                          EmitError emitError) {
  Parts parts(attributes, emitError);
  const Numbers window = parts.list("update_window_dims");
  const Numbers inserted = parts.list("inserted_window_dims");
  const Numbers batching = parts.laterList("input_batching_dims");
  const Numbers indicesBatching = parts.laterList("scatter_indices_batching_dims");
  const Numbers map = parts.list("scatter_dims_to_operand_dims");
  const std::int64_t vector = parts.number("index_vector_dim");
  return parts.become("scatter_dimension_numbers",
                      stablehlo::ScatterDimensionNumbersAttr::get(
                          context, window, inserted, batching, indicesBatching, map, vector));
}

void splitScatter(mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto dimensions = takeStructure<stablehlo::ScatterDimensionNumbersAttr>(
      attributes, "scatter_dimension_numbers");
  setList(attributes, builder, "update_window_dims", dimensions.getUpdateWindowDims());
  setList(attributes, builder, "inserted_window_dims", dimensions.getInsertedWindowDims());
  setList(attributes, builder, "input_batching_dims", dimensions.getInputBatchingDims());
  setList(attributes, builder, "scatter_indices_batching_dims",
          dimensions.getScatterIndicesBatchingDims());
  setList(attributes, builder, "scatter_dims_to_operand_dims",
          dimensions.getScatterDimsToOperandDims());
  setNumber(attributes, builder, "index_vector_dim", dimensions.getIndexVectorDim());
}

// Convolutions

bool isConvolution(llvm::StringRef stem) { return stem == "convolution" || stem == "dynamic_conv"; }

/// Whether the axes are a permutation of a tensor's axes.
bool areAxes(std::int64_t first, std::int64_t second, NumbersRef spatial) {
  Numbers axes(spatial);
  axes.append({first, second});
  llvm::sort(axes);
  return llvm::all_of(llvm::enumerate(axes), [](const auto& axis) {
    return axis.value() == static_cast<std::int64_t>(axis.index());
  });
}

LogicalResult joinConvolution(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                              EmitError emitError) {
  Parts parts(attributes, emitError);
  const std::int64_t inputBatch = parts.number("input_batch_dimension");
  const std::int64_t inputFeature = parts.number("input_feature_dimension");
  const Numbers input = parts.list("input_spatial_dimensions");
  const std::int64_t kernelInput = parts.number("kernel_input_feature_dimension");
  const std::int64_t kernelOutput = parts.number("kernel_output_feature_dimension");
  const Numbers kernel = parts.list("kernel_spatial_dimensions");
  const std::int64_t outputBatch = parts.number("output_batch_dimension");
  const std::int64_t outputFeature = parts.number("output_feature_dimension");
  const Numbers output = parts.list("output_spatial_dimensions");
  if (!areAxes(inputBatch, inputFeature, input) || !areAxes(kernelInput, kernelOutput, kernel) ||
      !areAxes(outputBatch, outputFeature, output))
    return emitError() << "the dimension numbers of a convolution are not each axis once";
  return parts.become("dimension_numbers",
                      stablehlo::ConvDimensionNumbersAttr::get(
                          context, inputBatch, inputFeature, input, kernelInput, kernelOutput,
                          kernel, outputBatch, outputFeature, output));
}

void splitConvolution(mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto axes =
      takeStructure<stablehlo::ConvDimensionNumbersAttr>(attributes, "dimension_numbers");
  setNumber(attributes, builder, "input_batch_dimension", axes.getInputBatchDimension());
  setNumber(attributes, builder, "input_feature_dimension", axes.getInputFeatureDimension());
  setList(attributes, builder, "input_spatial_dimensions", axes.getInputSpatialDimensions());
  setNumber(attributes, builder, "kernel_input_feature_dimension",
            axes.getKernelInputFeatureDimension());
  setNumber(attributes, builder, "kernel_output_feature_dimension",
            axes.getKernelOutputFeatureDimension());
  setList(attributes, builder, "kernel_spatial_dimensions", axes.getKernelSpatialDimensions());
  setNumber(attributes, builder, "output_batch_dimension", axes.getOutputBatchDimension());
  setNumber(attributes, builder, "output_feature_dimension", axes.getOutputFeatureDimension());
  setList(attributes, builder, "output_spatial_dimensions", axes.getOutputSpatialDimensions());
}

// Dots

LogicalResult joinDot(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                      EmitError emitError) {
  Parts parts(attributes, emitError);
  const Numbers lhsBatching = parts.list("lhs_batching_dimensions");
  const Numbers rhsBatching = parts.list("rhs_batching_dimensions");
  const Numbers lhsContracting = parts.list("lhs_contracting_dimensions");
  const Numbers rhsContracting = parts.list("rhs_contracting_dimensions");
  return parts.become("dot_dimension_numbers",
                      stablehlo::DotDimensionNumbersAttr::get(context, lhsBatching, rhsBatching,
                                                              lhsContracting, rhsContracting));
}

void splitDot(mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto axes =
      takeStructure<stablehlo::DotDimensionNumbersAttr>(attributes, "dot_dimension_numbers");
  setList(attributes, builder, "lhs_batching_dimensions", axes.getLhsBatchingDimensions());
  setList(attributes, builder, "rhs_batching_dimensions", axes.getRhsBatchingDimensions());
  setList(attributes, builder, "lhs_contracting_dimensions", axes.getLhsContractingDimensions());
  setList(attributes, builder, "rhs_contracting_dimensions", axes.getRhsContractingDimensions());
}

constexpr llvm::StringLiteral kAlgorithm[] = {
    "lhs_precision_type",          "rhs_precision_type",  "accumulation_type",
    "lhs_component_count",         "rhs_component_count", "num_primitive_operations",
    "allow_imprecise_accumulation"};

bool isNone(Attribute attribute) {
  const auto type = llvm::dyn_cast_or_null<mlir::TypeAttr>(attribute);
  return type && llvm::isa<mlir::NoneType>(type.getValue());
}

/// The parts are absent before 1.6.0; all seven are the type `none` if the dot has no algorithm.
LogicalResult joinAlgorithm(mlir::NamedAttrList& attributes, mlir::MLIRContext* context,
                            EmitError emitError) {
  llvm::SmallVector<Attribute> parts;
  for (llvm::StringRef name : kAlgorithm)
    parts.push_back(attributes.erase(name));
  if (llvm::all_of(parts, [](Attribute part) { return !part || isNone(part); }))
    return success();
  llvm::SmallVector<mlir::Type> types;
  Numbers counts;
  for (const Attribute part : parts)
    if (const auto type = llvm::dyn_cast_or_null<mlir::TypeAttr>(part))
      types.push_back(type.getValue());
    else if (const std::optional<std::int64_t> number = numberOf(part))
      counts.push_back(*number);
  const auto allows = llvm::dyn_cast_or_null<mlir::BoolAttr>(parts.back());
  if (types.size() != 3 || counts.size() != 4 || !allows || llvm::any_of(parts, isNone))
    return emitError() << "the algorithm of a dot is not complete";
  const auto algorithm =
      stablehlo::DotAlgorithmAttr::getChecked(emitError, context, types[0], types[1], types[2],
                                              counts[0], counts[1], counts[2], allows.getValue());
  if (!algorithm)
    return failure();
  attributes.set("algorithm", algorithm);
  return success();
}

void splitAlgorithm(mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto algorithm =
      llvm::dyn_cast_or_null<stablehlo::DotAlgorithmAttr>(attributes.erase("algorithm"));
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

bool isTransfer(llvm::StringRef stem) { return stem == "send" || stem == "recv"; }

bool hasChannel(llvm::StringRef stem) {
  return isTransfer(stem) ||
         llvm::is_contained({"all_gather", "all_reduce", "all_to_all", "collective_broadcast",
                             "collective_permute", "collective_reduce", "reduce_scatter"},
                            stem);
}

/// A collective with channel 0 has no channel handle, and artifacts do not keep the channel type of
/// collectives.
LogicalResult joinChannel(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                          mlir::MLIRContext* context, EmitError emitError) {
  const std::optional<std::int64_t> id = numberOf(attributes.erase("channel_id"));
  const std::optional<std::int64_t> type = isTransfer(stem)
                                               ? numberOf(attributes.erase("channel_type"))
                                               : std::optional(std::int64_t{0});
  if (!id || !type)
    return emitError() << "the channel is not a number and a type";
  if (*id != 0 || isTransfer(stem))
    attributes.set("channel_handle", stablehlo::ChannelHandleAttr::get(context, *id, *type));
  return success();
}

void splitChannel(llvm::StringRef stem, mlir::NamedAttrList& attributes, mlir::Builder& builder) {
  const auto channel =
      llvm::dyn_cast_or_null<stablehlo::ChannelHandleAttr>(attributes.erase("channel_handle"));
  attributes.set("channel_id", builder.getI64IntegerAttr(channel ? channel.getHandle() : 0));
  if (isTransfer(stem))
    attributes.set("channel_type", builder.getI64IntegerAttr(channel ? channel.getType() : 0));
}

} // namespace

std::optional<Numbers> numbersOf(Attribute attribute) {
  const auto dense = llvm::dyn_cast_or_null<mlir::DenseIntElementsAttr>(attribute);
  if (!dense || !dense.getElementType().isSignlessInteger(64))
    return std::nullopt;
  return llvm::to_vector(dense.getValues<std::int64_t>());
}

std::optional<std::int64_t> numberOf(Attribute attribute) {
  const auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attribute);
  return number && number.getType().isSignlessIntOrIndex() ? std::optional(number.getInt())
                                                           : std::nullopt;
}

bool isNoAlgorithm(llvm::StringRef name, Attribute part) {
  return llvm::is_contained(kAlgorithm, name) && isNone(part);
}

LogicalResult joinStructures(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                             mlir::MLIRContext* context, EmitError emitError) {
  if (isGather(stem))
    return joinGather(attributes, context, emitError);
  if (stem == "scatter")
    return joinScatter(attributes, context, emitError);
  if (isConvolution(stem))
    return joinConvolution(attributes, context, emitError);
  if (hasChannel(stem))
    return joinChannel(stem, attributes, context, emitError);
  if (stem == "dot_general")
    return failure(failed(joinDot(attributes, context, emitError)) ||
                   failed(joinAlgorithm(attributes, context, emitError)));
  return success();
}

void splitStructures(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                     mlir::Builder& builder) {
  if (isGather(stem)) {
    splitGather(attributes, builder);
  } else if (stem == "scatter") {
    splitScatter(attributes, builder);
  } else if (isConvolution(stem)) {
    splitConvolution(attributes, builder);
  } else if (hasChannel(stem)) {
    splitChannel(stem, attributes, builder);
  } else if (stem == "dot_general") {
    splitDot(attributes, builder);
    splitAlgorithm(attributes, builder);
  }
}

} // namespace octavo::vhlo
