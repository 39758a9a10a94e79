#include "octavo/Dialect/StableHLO/Convolution.h"

#include "octavo/Dialect/ElementTypes.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::failed;
using mlir::failure;
using mlir::RankedTensorType;

using Indices = llvm::ArrayRef<std::int64_t>;

namespace {

/// Verifies the axes of one tensor: as many spatial axes as the window has, and each axis once.
LogicalResult verifyAxes(const Checker& check, llvm::StringRef countRule, llvm::StringRef axesRule,
                         llvm::StringRef name, std::int64_t first, std::int64_t second,
                         Indices spatial, std::int64_t rank) {
  if (static_cast<std::int64_t>(spatial.size()) != rank - 2)
    return check.violated(countRule, name, "_spatial_dimensions must have ", rank - 2,
                          " entries; found ", spell(spatial));
  llvm::SmallVector<std::int64_t> all{first};
  all.append(spatial.begin(), spatial.end());
  all.push_back(second);
  const std::string whose = (name + " dimensions").str();
  if (failed(check.unique(axesRule, whose, all)))
    return failure();
  return check.inside(axesRule, whose, all, rank, name);
}

/// C27 to C34: element types.
LogicalResult verifyElements(const Checker& check, ConvDimensionNumbersAttr numbers, mlir::Type lhs,
                             mlir::Type rhs, mlir::Type result) {
  const auto violated = [&](llvm::StringRef rule, llvm::StringRef what) {
    return check.violated(rule, what, "; found ", lhs, ", ", rhs, " and ", result);
  };
  if (!isQuantized(lhs) && !isQuantized(rhs) && !isQuantized(result)) {
    if (lhs != rhs)
      return violated("C27", "lhs and rhs must have one element type");
    return mlir::success();
  }
  if (!isQuantized(rhs) || isQuantized(lhs) != isQuantized(result))
    return violated("C28", "rhs must be quantized, and lhs and result both or neither");
  const numerics::QuantizedType right = elementType(rhs)->quantized();
  if (right.axis && *right.axis != numbers.getKernelOutputFeatureDimension())
    return violated("C29", "the quantization dimension of rhs must be kernel_output_feature_"
                           "dimension");
  if (!isQuantized(lhs)) {
    if (elementFormat(lhs) != right.expressed || elementFormat(result) != right.expressed)
      return violated("C34", "lhs and result must have the expressed type of rhs");
    return mlir::success();
  }
  const numerics::QuantizedType left = elementType(lhs)->quantized();
  const numerics::QuantizedType product = elementType(result)->quantized();
  if (product.axis && *product.axis != numbers.getOutputFeatureDimension())
    return violated("C30",
                    "the quantization dimension of the result must be output_feature_dimension");
  if (left.storage != right.storage)
    return violated("C31", "lhs and rhs must have one storage type");
  if (left.expressed != right.expressed || left.expressed != product.expressed)
    return violated("C32", "operands and result must have one expressed type");
  if (!right.axis && product.axis)
    return violated("C33", "the result must be quantized per tensor where rhs is");
  return mlir::success();
}

/// C10, C11, C14 to C16: features and batches must divide into groups.
LogicalResult verifyGroups(const Checker& check, const ConvolutionAttributes& attributes,
                           const Extents& lhs, const Extents& rhs) {
  const ConvDimensionNumbersAttr d = attributes.numbers;
  const std::int64_t features = attributes.featureGroups, batches = attributes.batchGroups;
  if (features <= 0)
    return check.violated("C21", "feature_group_count must be positive; found ", features);
  if (batches <= 0)
    return check.violated("C22", "batch_group_count must be positive; found ", batches);
  if (features != 1 && batches != 1)
    return check.violated("C23", "feature_group_count or batch_group_count must be 1; found ",
                          features, " and ", batches);
  const auto divides = [](std::int64_t groups, Extent extent) {
    return !extent.isKnown() || *extent.largest() % groups == 0;
  };
  const Extent batch = lhs[d.getInputBatchDimension()], feature = lhs[d.getInputFeatureDimension()];
  const Extent inputs = rhs[d.getKernelInputFeatureDimension()];
  const Extent outputs = rhs[d.getKernelOutputFeatureDimension()];
  if (!divides(batches, batch))
    return check.violated("C10", "batch_group_count ", batches, " must divide the batch of lhs, ",
                          batch.spell());
  if (!divides(features, feature))
    return check.violated("C11", "feature_group_count ", features,
                          " must divide the features of lhs, ", feature.spell());
  if (feature.isKnown() && !inputs.isCompatible(Extent::known(*feature.largest() / features)))
    return check.violated("C14", "the kernel must have the features of a group of lhs, ",
                          *feature.largest() / features, "; found ", inputs.spell());
  if (!divides(batches, outputs))
    return check.violated("C15", "batch_group_count ", batches,
                          " must divide the output features of the kernel, ", outputs.spell());
  if (!divides(features, outputs))
    return check.violated("C16", "feature_group_count ", features,
                          " must divide the output features of the kernel, ", outputs.spell());
  return mlir::success();
}

} // namespace

LogicalResult verifyConvolution(mlir::Operation* op, const ConvolutionAttributes& attributes,
                                RankedTensorType lhs, RankedTensorType rhs, RankedTensorType result,
                                bool hasPadding) {
  static constexpr WindowRules kRules{.sizes = {"window_dimensions", "C1", "C1"},
                                      .strides = {"window_strides", "C2", "C3"},
                                      .baseDilations = {"lhs_dilation", "C5", "C6"},
                                      .windowDilations = {"rhs_dilation", "C7", "C8"},
                                      .padding = "C4"};
  const Checker check(op);
  const ConvDimensionNumbersAttr d = attributes.numbers;
  const std::int64_t rank = lhs.getRank();
  if (rank < 2 || rhs.getRank() != rank)
    return check.violated("C1", "lhs and rhs must have one rank, 2 or more; found ", rank, " and ",
                          rhs.getRank());
  if (attributes.windowReversal && !attributes.windowReversal->empty() &&
      static_cast<std::int64_t>(attributes.windowReversal->size()) != rank - 2)
    return check.violated("C9", "window_reversal must have one entry for each of ", rank - 2,
                          " axes; found ", attributes.windowReversal->size());
  const llvm::FailureOr<Window> checked = verifyWindow(check, kRules, rank - 2,
                                                       {.sizes = std::nullopt,
                                                        .strides = attributes.windowStrides,
                                                        .baseDilations = attributes.lhsDilation,
                                                        .windowDilations = attributes.rhsDilation,
                                                        .padding = attributes.padding});
  if (failed(checked))
    return failure();
  if (failed(verifyAxes(check, "C12", "C13", "input", d.getInputBatchDimension(),
                        d.getInputFeatureDimension(), d.getInputSpatialDimensions(), rank)) ||
      failed(verifyAxes(check, "C17", "C18", "kernel", d.getKernelInputFeatureDimension(),
                        d.getKernelOutputFeatureDimension(), d.getKernelSpatialDimensions(),
                        rank)) ||
      failed(verifyAxes(check, "C19", "C20", "output", d.getOutputBatchDimension(),
                        d.getOutputFeatureDimension(), d.getOutputSpatialDimensions(), rank)))
    return failure();
  const Extents input = extentsOf(lhs), kernel = extentsOf(rhs);
  if (failed(verifyGroups(check, attributes, input, kernel)))
    return failure();
  // An absent or empty configuration means DEFAULT for both operands.
  if (attributes.precision && !attributes.precision->empty() && attributes.precision->size() != 2)
    return check.violated("C24",
                          "precision_config must have an entry for lhs and one for rhs; found ",
                          attributes.precision->size());
  if (result.getRank() != rank)
    return check.violated("C26", "the result must have the rank of lhs, ", rank, "; found ",
                          result);
  if (failed(verifyElements(check, d, lhs.getElementType(), rhs.getElementType(),
                            result.getElementType())))
    return failure();

  Extents shape(static_cast<std::size_t>(rank), Extent::unknown());
  const auto groups = attributes.batchGroups;
  shape[d.getOutputBatchDimension()] = *input[d.getInputBatchDimension()].map(
      [&](std::int64_t batch) { return std::optional(batch / groups); });
  shape[d.getOutputFeatureDimension()] = kernel[d.getKernelOutputFeatureDimension()];
  Window window = *checked;
  for (std::int64_t axis = 0; axis < rank - 2; ++axis) {
    const Extent size = kernel[d.getKernelSpatialDimensions()[axis]];
    if (size.is(0))
      return check.violated("C25",
                            "the kernel must have a positive extent on each spatial axis; "
                            "found ",
                            rhs);
    if (!size.isKnown() || !hasPadding)
      continue;
    window[axis].size = *size.largest();
    const llvm::FailureOr<Extents> count =
        windowedExtents(check, "C25", input[d.getInputSpatialDimensions()[axis]], {window[axis]});
    if (failed(count))
      return failure();
    shape[d.getOutputSpatialDimensions()[axis]] = count->front();
  }
  if (!areCompatible(extentsOf(result), shape))
    return check.violated("C25", "the result must have the shape ", spell(shape), "; found ",
                          spell(extentsOf(result)));
  return mlir::success();
}

} // namespace octavo::stablehlo
