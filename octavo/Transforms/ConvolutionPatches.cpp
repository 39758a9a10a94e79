#include "octavo/Transforms/ConvolutionPatches.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

std::int64_t extent(mlir::Value value, std::int64_t axis) {
  return shapeOf(value)[static_cast<std::size_t>(axis)];
}

mlir::Value transposed(mlir::OpBuilder& builder, mlir::Value value, const Axes& order) {
  Axes shape;
  for (std::int64_t axis : order)
    shape.push_back(extent(value, axis));
  return llvm::is_sorted(order)
             ? value
             : stablehlo::TransposeOp::create(builder, value.getLoc(), typeOf(value).clone(shape),
                                              value, order);
}

} // namespace

bool isOfPatches(stablehlo::ConvolutionOp op) {
  return op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1 && typeOf(op.getLhs()) &&
         typeOf(op.getRhs()) && typeOf(op.getResult()) &&
         !llvm::is_contained(op.getWindowReversal().value_or(llvm::ArrayRef<bool>()), true);
}

ProductOfPatches writePatches(stablehlo::ConvolutionOp op) {
  mlir::OpBuilder builder(op);
  const mlir::Location location = op.getLoc();
  const auto numbers = op.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> windowAxes = numbers.getKernelSpatialDimensions();
  const std::size_t spatial = windowAxes.size();
  const auto all = [&](std::optional<llvm::ArrayRef<std::int64_t>> given) {
    return given ? Axes(*given) : Axes(spatial, 1);
  };
  const Axes strides = all(op.getWindowStrides()), dilation = all(op.getRhsDilation());
  Axes low(spatial + 2, 0), high(spatial + 2, 0), interior(spatial + 2, 0);
  for (auto [i, each] : llvm::enumerate(all(op.getLhsDilation())))
    interior[i + 1] = each - 1;
  if (op.getPadding())
    for (auto [i, each] : llvm::enumerate(op.getPadding()->getValues<std::int64_t>()))
      (i % 2 == 0 ? low : high)[i / 2 + 1] = each;

  Axes order = {numbers.getInputBatchDimension()};
  llvm::append_range(order, numbers.getInputSpatialDimensions());
  order.push_back(numbers.getInputFeatureDimension());
  mlir::Value input = transposed(builder, op.getLhs(), order);
  const auto isZero = [](std::int64_t each) { return each == 0; };
  if (!llvm::all_of(low, isZero) || !llvm::all_of(high, isZero) ||
      !llvm::all_of(interior, isZero)) {
    Axes padded(shapeOf(input));
    for (auto [axis, length] : llvm::enumerate(padded))
      length += low[axis] + high[axis] + std::max<std::int64_t>(length - 1, 0) * interior[axis];
    const mlir::RankedTensorType type = typeOf(input);
    const mlir::Value zero =
        stablehlo::ConstantOp::create(builder, location,
                                      llvm::cast<mlir::ElementsAttr>(builder.getZeroAttr(
                                          mlir::RankedTensorType::get({}, type.getElementType()))));
    input = stablehlo::PadOp::create(builder, location, type.clone(padded), input, zero, low, high,
                                     interior);
  }

  Axes shape = {extent(op.getResult(), numbers.getOutputBatchDimension())}, window;
  for (std::int64_t axis : numbers.getOutputSpatialDimensions())
    shape.push_back(extent(op.getResult(), axis));
  for (std::int64_t axis : windowAxes)
    window.push_back(extent(op.getRhs(), axis));
  const std::int64_t features = extent(input, static_cast<std::int64_t>(spatial) + 1),
                     places = elementCount(window);
  shape.push_back(features);
  llvm::SmallVector<mlir::Value> slices;
  for (std::int64_t place = 0; place < places; ++place) {
    Axes starts(spatial + 2, 0), limits(shapeOf(input)), steps(spatial + 2, 1);
    std::int64_t rest = place;
    for (std::size_t i = spatial; i-- > 0; rest /= window[i]) {
      starts[i + 1] = rest % window[i] * dilation[i];
      steps[i + 1] = strides[i];
      limits[i + 1] = starts[i + 1] + (shape[i + 1] - 1) * strides[i] + 1;
    }
    slices.push_back(stablehlo::SliceOp::create(builder, location, typeOf(input).clone(shape),
                                                input, starts, limits, steps));
  }
  const auto last = static_cast<std::int64_t>(spatial) + 1;
  shape.back() = places * features;
  const mlir::Value patches =
      places == 1 ? slices.front()
                  : stablehlo::ConcatenateOp::create(builder, location, typeOf(input).clone(shape),
                                                     slices, last);

  order.assign(windowAxes.begin(), windowAxes.end());
  order.append(
      {numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension()});
  const mlir::Value kernel = transposed(builder, op.getRhs(), order);
  const std::int64_t outputs = shapeOf(kernel).back();
  const mlir::Value weight = stablehlo::ReshapeOp::create(
      builder, location, typeOf(kernel).clone({places * features, outputs}), kernel);

  shape.back() = outputs;
  const auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
      op.getContext(), llvm::ArrayRef<std::int64_t>(), llvm::ArrayRef<std::int64_t>(), {last}, {0});
  auto dot = stablehlo::DotGeneralOp::create(builder, location, typeOf(op.getResult()).clone(shape),
                                             patches, weight, dimensions, mlir::ArrayAttr(),
                                             stablehlo::DotAlgorithmAttr());
  order.assign(spatial + 2, 0);
  order[static_cast<std::size_t>(numbers.getOutputBatchDimension())] = 0;
  order[static_cast<std::size_t>(numbers.getOutputFeatureDimension())] = last;
  for (auto [i, axis] : llvm::enumerate(numbers.getOutputSpatialDimensions()))
    order[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(i) + 1;
  return {dot, transposed(builder, dot.getResult(), order)};
}

} // namespace octavo::transforms
