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

/// Where the windows of a convolution lie, one number for each axis of its places.
struct Windows {
  explicit Windows(stablehlo::ConvolutionOp op);

  std::size_t rank() const { return window.size(); }
  bool isPadded() const {
    const auto isZero = [](std::int64_t each) { return each == 0; };
    return !llvm::all_of(low, isZero) || !llvm::all_of(high, isZero) ||
           !llvm::all_of(interior, isZero);
  }
  /// Whether they lie side by side: what they see is the input, in another order.
  bool areTiles() const {
    return !isPadded() && strides == window && elementCount(window) > 1 &&
           llvm::all_of(dilation, [](std::int64_t each) { return each == 1; });
  }

  /// Whether a slice for each place of the result is less than one for each place of the window.
  bool areFew() const {
    const std::int64_t count = elementCount(places);
    return count > 0 && count < elementCount(window);
  }

  Axes window, places, strides, dilation;
  Axes low, high, interior; ///< of padding
};

Windows::Windows(stablehlo::ConvolutionOp op) {
  const auto numbers = op.getDimensionNumbers();
  for (std::int64_t axis : numbers.getKernelSpatialDimensions())
    window.push_back(extent(op.getRhs(), axis));
  for (std::int64_t axis : numbers.getOutputSpatialDimensions())
    places.push_back(extent(op.getResult(), axis));
  const auto all = [&](std::optional<llvm::ArrayRef<std::int64_t>> given) {
    return given ? Axes(*given) : Axes(rank(), 1);
  };
  strides = all(op.getWindowStrides());
  dilation = all(op.getRhsDilation());
  low.assign(rank(), 0);
  high = interior = low;
  for (auto [axis, each] : llvm::enumerate(all(op.getLhsDilation())))
    interior[axis] = each - 1;
  if (op.getPadding())
    for (auto [i, each] : llvm::enumerate(op.getPadding()->getValues<std::int64_t>()))
      (i % 2 == 0 ? low : high)[i / 2] = each;
}

/// Writes what windows see of an input [batch, places.., features].
class Patches {
public:
  Patches(mlir::OpBuilder& builder, const Windows& windows, mlir::Value input)
      : builder(builder), location(input.getLoc()), windows(windows), input(input),
        batch(extent(input, 0)), features(shapeOf(input).back()) {}

  /// [batch, places.., window * features], the window row-major.
  mlir::Value write() {
    if (windows.isPadded())
      pad();
    if (windows.areTiles())
      return tiles();
    return windows.areFew() ? byPlace() : byWindow();
  }

private:
  void pad();
  mlir::Value tiles();
  mlir::Value byWindow();
  mlir::Value byPlace();
  /// What lies at `first`, and from there on in `counts` steps, of each axis of places.
  mlir::Value slice(const Axes& first, const Axes& steps, const Axes& counts);
  mlir::Value joined(llvm::ArrayRef<mlir::Value> parts, std::int64_t axis);
  Axes withEnds(const Axes& between, std::int64_t last) const {
    Axes shape = {batch};
    llvm::append_range(shape, between);
    shape.push_back(last);
    return shape;
  }

  mlir::OpBuilder& builder;
  mlir::Location location;
  const Windows& windows;
  mlir::Value input;
  std::int64_t batch, features;
};

void Patches::pad() {
  const mlir::RankedTensorType type = typeOf(input);
  Axes low = windows.low, high = windows.high, interior = windows.interior, shape(type.getShape());
  for (Axes* each : {&low, &high, &interior}) {
    each->insert(each->begin(), 0);
    each->push_back(0);
  }
  for (auto [axis, length] : llvm::enumerate(shape))
    length += low[axis] + high[axis] + std::max<std::int64_t>(length - 1, 0) * interior[axis];
  const mlir::Value zero =
      stablehlo::ConstantOp::create(builder, location,
                                    llvm::cast<mlir::ElementsAttr>(builder.getZeroAttr(
                                        mlir::RankedTensorType::get({}, type.getElementType()))));
  input = stablehlo::PadOp::create(builder, location, type.clone(shape), input, zero, low, high,
                                   interior);
}

mlir::Value Patches::slice(const Axes& first, const Axes& steps, const Axes& counts) {
  Axes starts(windows.rank() + 2, 0), limits(shapeOf(input)), strides(windows.rank() + 2, 1);
  for (auto [axis, start, step, count] : llvm::enumerate(first, steps, counts)) {
    starts[axis + 1] = start;
    strides[axis + 1] = step;
    limits[axis + 1] = std::max(start, start + (count - 1) * step + 1);
  }
  return stablehlo::SliceOp::create(builder, location,
                                    typeOf(input).clone(withEnds(counts, features)), input, starts,
                                    limits, strides);
}

mlir::Value Patches::joined(llvm::ArrayRef<mlir::Value> parts, std::int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Axes shape(shapeOf(parts.front()));
  shape[static_cast<std::size_t>(axis)] *= static_cast<std::int64_t>(parts.size());
  return stablehlo::ConcatenateOp::create(builder, location, typeOf(input).clone(shape), parts,
                                          axis);
}

/// The place in a shape that comes `index`-th, row-major.
Axes placeAt(const Axes& shape, std::int64_t index) {
  Axes place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    place[axis] = index % shape[axis];
  return place;
}

Axes products(const Axes& lhs, const Axes& rhs) {
  Axes result;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs))
    result.push_back(left * right);
  return result;
}

mlir::Value Patches::tiles() {
  const Axes zeros(windows.rank(), 0), ones(windows.rank(), 1);
  input = slice(zeros, ones, products(windows.places, windows.window));
  Axes cut = {batch}, order = {0};
  for (auto [place, length] : llvm::zip_equal(windows.places, windows.window))
    cut.append({place, length});
  cut.push_back(features);
  const auto last = static_cast<std::int64_t>(cut.size()) - 1;
  for (std::int64_t axis = 1; axis < last; axis += 2)
    order.push_back(axis);
  for (std::int64_t axis = 2; axis <= last; axis += 2)
    order.push_back(axis);
  order.push_back(last);
  return reshaped(builder, transposed(builder, reshaped(builder, input, cut), order),
                  withEnds(windows.places, elementCount(windows.window) * features));
}

/// A slice for each place of the window.
mlir::Value Patches::byWindow() {
  llvm::SmallVector<mlir::Value> slices;
  for (std::int64_t index = 0; index < elementCount(windows.window); ++index)
    slices.push_back(slice(products(placeAt(windows.window, index), windows.dilation),
                           windows.strides, windows.places));
  return joined(slices, static_cast<std::int64_t>(windows.rank()) + 1);
}

/// A slice for each place of the result, which are few where the kernel is as large as an image, as
/// in the gradient of a convolution's weights.
mlir::Value Patches::byPlace() {
  const std::int64_t length = elementCount(windows.window) * features;
  llvm::SmallVector<mlir::Value> slices;
  for (std::int64_t index = 0; index < elementCount(windows.places); ++index)
    slices.push_back(reshaped(builder,
                              slice(products(placeAt(windows.places, index), windows.strides),
                                    windows.dilation, windows.window),
                              {batch, 1, length}));
  return reshaped(builder, joined(slices, 1), withEnds(windows.places, length));
}

} // namespace

std::int64_t slicesOfPatches(stablehlo::ConvolutionOp op) {
  const Windows windows(op);
  return windows.areTiles() ? 1 : elementCount(windows.areFew() ? windows.places : windows.window);
}

ProductOfPatches writePatches(stablehlo::ConvolutionOp op) {
  mlir::OpBuilder builder(op);
  const mlir::Location location = op.getLoc();
  const auto numbers = op.getDimensionNumbers();
  const Windows windows(op);
  const std::size_t spatial = windows.rank();
  Axes order = {numbers.getInputBatchDimension()};
  llvm::append_range(order, numbers.getInputSpatialDimensions());
  order.push_back(numbers.getInputFeatureDimension());
  const mlir::Value input = transposed(builder, op.getLhs(), order);
  const mlir::Value patches = Patches(builder, windows, input).write();
  const std::int64_t features = shapeOf(input).back(), places = elementCount(windows.window);
  const auto last = static_cast<std::int64_t>(spatial) + 1;
  Axes shape(shapeOf(patches));

  mlir::Value kernel = op.getRhs();
  Axes reversed;
  const llvm::ArrayRef<std::int64_t> windowAxes = numbers.getKernelSpatialDimensions();
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
