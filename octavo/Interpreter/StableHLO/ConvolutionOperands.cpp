#include "octavo/Interpreter/StableHLO/ConvolutionOperands.h"

#include "octavo/Interpreter/Products/Convolve.h"
#include "octavo/Interpreter/Products/ProductKinds.h"
#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

llvm::Expected<Value> convolveOperands(mlir::Operation* op, const Value& lhs, const Value& rhs,
                                       const stablehlo::ConvolutionAttributes& attributes,
                                       llvm::ArrayRef<std::int64_t> padding) {
  llvm::Expected<ElementType> type = resultNumberType(op);
  if (!type)
    return type.takeError();
  const Tensor& x = lhs.tensor();
  const Tensor& kernel = rhs.tensor();
  const stablehlo::ConvDimensionNumbersAttr d = attributes.numbers;
  ConvolutionShape shape{.inputBatch = d.getInputBatchDimension(),
                         .inputFeature = d.getInputFeatureDimension(),
                         .inputSpatial = d.getInputSpatialDimensions().vec(),
                         .kernelInput = d.getKernelInputFeatureDimension(),
                         .kernelOutput = d.getKernelOutputFeatureDimension(),
                         .kernelSpatial = d.getKernelSpatialDimensions().vec(),
                         .outputBatch = d.getOutputBatchDimension(),
                         .outputFeature = d.getOutputFeatureDimension(),
                         .outputSpatial = d.getOutputSpatialDimensions().vec(),
                         .window = {},
                         .featureGroups = attributes.featureGroups,
                         .batchGroups = attributes.batchGroups};
  const auto at = [](std::optional<llvm::ArrayRef<std::int64_t>> list, std::size_t axis) {
    return list && !list->empty() ? (*list)[axis] : 1;
  };
  for (std::size_t axis = 0; axis < shape.inputSpatial.size(); ++axis)
    shape.window.push_back({.stride = at(attributes.windowStrides, axis),
                            .low = padding.empty() ? 0 : padding[2 * axis],
                            .high = padding.empty() ? 0 : padding[2 * axis + 1],
                            .lhsDilation = at(attributes.lhsDilation, axis),
                            .rhsDilation = at(attributes.rhsDilation, axis),
                            .isReversed = attributes.windowReversal &&
                                          !attributes.windowReversal->empty() &&
                                          (*attributes.windowReversal)[axis]});
  // Extents that types left unknown are known now.
  const std::int64_t features = x.shape[shape.inputFeature];
  const std::int64_t outputs = kernel.shape[shape.kernelOutput];
  if (features % shape.featureGroups != 0 ||
      kernel.shape[shape.kernelInput] != features / shape.featureGroups ||
      x.shape[shape.inputBatch] % shape.batchGroups != 0 ||
      outputs % (shape.featureGroups * shape.batchGroups) != 0)
    return failure(op, "the features and groups of " + describe(lhs) + " and " + describe(rhs) +
                           " do not fit together");
  const std::vector<std::int64_t> result = convolvedShape(x.shape, kernel.shape, shape);
  if (llvm::any_of(result, [](std::int64_t extent) { return extent < 0; }))
    return failure(op, "pads " + describe(lhs) +
                           " to a negative extent, or one that does not fit 63 bits");
  if (llvm::Error error = checkResultShape(op, result))
    return std::move(error);
  // The padded input is stored as a whole, so its size is checked too: windows that are far apart
  // give a small result from a large input.
  std::vector<std::int64_t> low(x.shape.size(), 0), high = low, interior = low;
  for (const auto [axis, window] : llvm::zip(shape.inputSpatial, shape.window)) {
    low[axis] = window.low;
    high[axis] = window.high;
    interior[axis] = window.lhsDilation - 1;
  }
  const auto padded = paddedShape(x.shape, low, high, interior);
  if (llvm::Error error = checkSize(op, padded.value_or(result)))
    return std::move(error);
  return Value(productOfKinds(
      x, kernel, *type, [&](const Tensor& left, const Tensor& right, const ElementType& computed) {
        return convolve(left, right, shape, computed);
      }));
}

} // namespace octavo::interpreter
