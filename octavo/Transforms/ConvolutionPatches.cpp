#include "octavo/Transforms/ConvolutionPatches.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

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

mlir::Value reshaped(mlir::OpBuilder& builder, mlir::Value value, const Axes& shape) {
  return shapeOf(value) == llvm::ArrayRef(shape)
             ? value
             : stablehlo::ReshapeOp::create(builder, value.getLoc(), typeOf(value).clone(shape),
                                            value);
}

/// An axis cut into groups: an axis of `groups` before it.
Axes grouped(llvm::ArrayRef<std::int64_t> shape, std::size_t axis, std::int64_t groups) {
  Axes result(shape);
  result[axis] /= groups;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), groups);
  return result;
}

/// The axes in order, but one of them, which is at another place.
Axes moved(std::size_t rank, std::size_t from, std::size_t to) {
  Axes order = llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(rank)));
  const std::int64_t axis = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), axis);
  return order;
}

} // namespace

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

  Axes shape = {extent(op.getLhs(), numbers.getInputBatchDimension())}, window;
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
      limits[i + 1] = std::max(starts[i + 1], starts[i + 1] + (shape[i + 1] - 1) * strides[i] + 1);
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

  mlir::Value kernel = op.getRhs();
  Axes reversed;
  for (auto [axis, isReversed] :
       llvm::zip(windowAxes, op.getWindowReversal().value_or(llvm::ArrayRef<bool>())))
    if (isReversed)
      reversed.push_back(axis);
  if (!reversed.empty())
    kernel = stablehlo::ReverseOp::create(builder, location, kernel.getType(), kernel, reversed);
  order.assign(windowAxes.begin(), windowAxes.end());
  order.append(
      {numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension()});
  kernel = transposed(builder, kernel, order);
  const std::int64_t outputs = shapeOf(kernel).back();
  const auto groups = static_cast<std::int64_t>(op.getFeatureGroupCount()),
             batches = static_cast<std::int64_t>(op.getBatchGroupCount());
  const auto dot = [&](mlir::Value lhs, mlir::Value rhs, const Axes& result, const Axes& batching,
                       const Axes& rhsBatching, const Axes& contracting,
                       const Axes& rhsContracting) {
    return stablehlo::DotGeneralOp::create(
        builder, location, typeOf(op.getResult()).clone(result), lhs, rhs,
        stablehlo::DotDimensionNumbersAttr::get(op.getContext(), batching, rhsBatching, contracting,
                                                rhsContracting),
        mlir::ArrayAttr(), stablehlo::DotAlgorithmAttr());
  };
  stablehlo::DotGeneralOp product;
  mlir::Value result;
  if (groups > 1) {
    // [batch, places.., window, group, features] by [window, features, group, out].
    Axes sides(shape);
    sides.back() = places;
    sides.append({groups, features / groups});
    const mlir::Value lhs = reshaped(builder, patches, sides),
                      rhs = reshaped(builder, kernel,
                                     {places, features / groups, groups, outputs / groups});
    Axes results = {groups};
    results.append(shape.begin(), shape.end() - 1);
    results.push_back(outputs / groups);
    product = dot(lhs, rhs, results, {last + 1}, {2}, {last, last + 2}, {0, 1});
    result = transposed(builder, product.getResult(),
                        moved(results.size(), 0, static_cast<std::size_t>(last)));
  } else if (batches > 1) {
    // [group, batch, places.., window * features] by [window * features, group, out].
    const mlir::Value lhs = reshaped(builder, patches, grouped(shape, 0, batches)),
                      rhs = reshaped(builder, kernel,
                                     {places * features, batches, outputs / batches});
    Axes results = grouped(shape, 0, batches);
    results.back() = outputs / batches;
    product = dot(lhs, rhs, results, {0}, {1}, {last + 1}, {0});
    result = transposed(builder, product.getResult(),
                        moved(results.size(), 0, static_cast<std::size_t>(last)));
    shape[0] /= batches;
  } else {
    shape.back() = outputs;
    product = dot(patches, reshaped(builder, kernel, {places * features, outputs}), shape, {}, {},
                  {last}, {0});
    result = product.getResult();
  }
  shape.back() = outputs;
  result = reshaped(builder, result, shape);
  order.assign(spatial + 2, 0);
  order[static_cast<std::size_t>(numbers.getOutputBatchDimension())] = 0;
  order[static_cast<std::size_t>(numbers.getOutputFeatureDimension())] = last;
  for (auto [i, axis] : llvm::enumerate(numbers.getOutputSpatialDimensions()))
    order[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(i) + 1;
  return {product, transposed(builder, result, order)};
}

} // namespace octavo::transforms
