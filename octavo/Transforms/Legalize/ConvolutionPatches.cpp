#include "octavo/Transforms/Legalize/ConvolutionPatches.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Transforms/Shapes/OpenShapes.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <vector>

namespace octavo::transforms {

namespace {

using Axes = Windows::Axes;

std::int64_t extent(mlir::Value value, std::int64_t axis) {
  return openShapeOf(value)[static_cast<std::size_t>(axis)];
}

mlir::Value transposed(mlir::OpBuilder& builder, mlir::Value value, const Axes& order) {
  Axes shape;
  for (std::int64_t axis : order)
    shape.push_back(extent(value, axis));
  return llvm::is_sorted(order)
             ? value
             : stablehlo::TransposeOp::create(builder, value.getLoc(),
                                              openTypeOf(value).clone(shape), value, order);
}

/// Reshapes; if the number of images, the first axis, is open, it stays.
mlir::Value reshaped(mlir::OpBuilder& builder, mlir::Value value, const Axes& shape) {
  std::vector<mlir::Operation*> made;
  OpenShapes shapes(builder, value.getLoc(), made);
  return shapes.reshape(value, shape, [&](std::size_t axis) { return shapes.sizeOf(value, axis); });
}

/// `shape` with `axis` split into [groups, rest].
Axes grouped(llvm::ArrayRef<std::int64_t> shape, std::size_t axis, std::int64_t groups) {
  Axes result(shape);
  result[axis] /= groups;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), groups);
  return result;
}

/// The identity permutation with one axis moved.
Axes moved(std::size_t rank, std::size_t from, std::size_t to) {
  Axes order = llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(rank)));
  const std::int64_t axis = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), axis);
  return order;
}

} // namespace

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
  groups = static_cast<std::int64_t>(op.getFeatureGroupCount());
  batchGroups = static_cast<std::int64_t>(op.getBatchGroupCount());
}

bool Windows::areTiles() const {
  return !isPadded() && strides == window && elementCount(window) > 1 &&
         llvm::all_of(dilation, [](std::int64_t each) { return each == 1; });
}

bool Windows::areFew() const {
  const std::int64_t count = elementCount(places);
  return count > 0 && count < elementCount(window);
}

llvm::BitVector Windows::seen(std::size_t axis, std::int64_t count) const {
  llvm::BitVector result(static_cast<unsigned>(count));
  const std::int64_t step = interior[axis] + 1;
  for (std::int64_t place = 0; place < places[axis]; ++place)
    for (std::int64_t inWindow = 0; inWindow < window[axis]; ++inWindow) {
      const std::int64_t at = place * strides[axis] + inWindow * dilation[axis] - low[axis];
      if (at >= 0 && at % step == 0 && at / step < count)
        result.set(static_cast<unsigned>(at / step));
    }
  return result;
}

bool Windows::repeat(llvm::ArrayRef<std::int64_t> inputPlaces) const {
  for (auto [axis, count] : llvm::enumerate(inputPlaces))
    if (!seen(axis, count).all())
      return false;
  return elementCount(places) * elementCount(window) > elementCount(inputPlaces);
}

std::int64_t Windows::slices() const {
  return areTiles() ? 1 : elementCount(areFew() ? places : window);
}

namespace {

/// Writes patchesOf.
class Patches {
public:
  Patches(mlir::OpBuilder& builder, const Windows& windows, mlir::Value input)
      : builder(builder), location(input.getLoc()), windows(windows), input(input),
        batch(extent(input, 0)), features(openShapeOf(input).back()) {}

  /// The range of the input from `first` on, `counts` places on each spatial axis.
  mlir::Value cut(const Axes& first, const Axes& counts) {
    return slice(first, Axes(windows.rank(), 1), counts);
  }
  mlir::Value write(mlir::DenseElementsAttr padding) {
    if (windows.isPadded())
      pad(padding);
    if (windows.areTiles())
      return tiles();
    return windows.areFew() ? byPlace() : byWindow();
  }

private:
  void pad(mlir::DenseElementsAttr padding);
  mlir::Value tiles();
  mlir::Value byWindow();
  mlir::Value byPlace();
  /// A strided slice of the spatial axes: `counts` places from `first`, `steps` apart.
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

void Patches::pad(mlir::DenseElementsAttr padding) {
  const mlir::RankedTensorType type = openTypeOf(input);
  Axes low = windows.low, high = windows.high, interior = windows.interior, shape(type.getShape());
  for (Axes* each : {&low, &high, &interior}) {
    each->insert(each->begin(), 0);
    each->push_back(0);
  }
  for (auto [axis, length] : llvm::enumerate(shape))
    length += low[axis] + high[axis] + std::max<std::int64_t>(length - 1, 0) * interior[axis];
  input = stablehlo::PadOp::create(builder, location, type.clone(shape), input,
                                   stablehlo::ConstantOp::create(builder, location, padding), low,
                                   high, interior);
}

mlir::Value Patches::slice(const Axes& first, const Axes& steps, const Axes& counts) {
  Axes starts(windows.rank() + 2, 0), limits(openShapeOf(input)), strides(windows.rank() + 2, 1);
  for (auto [axis, start, step, count] : llvm::enumerate(first, steps, counts)) {
    starts[axis + 1] = start;
    strides[axis + 1] = step;
    limits[axis + 1] = std::max(start, start + (count - 1) * step + 1);
  }
  const mlir::RankedTensorType type = openTypeOf(input).clone(withEnds(counts, features));
  if (type.hasStaticShape())
    return stablehlo::SliceOp::create(builder, location, type, input, starts, limits, strides);
  std::vector<mlir::Operation*> made;
  OpenShapes shapes(builder, location, made);
  const auto list = [&](const Axes& numbers) {
    return shapes.shape(numbers, [&](std::size_t axis) { return shapes.sizeOf(input, axis); });
  };
  return stablehlo::RealDynamicSliceOp::create(builder, location, type, input, list(starts),
                                               list(limits), list(strides));
}

mlir::Value Patches::joined(llvm::ArrayRef<mlir::Value> parts, std::int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Axes shape(openShapeOf(parts.front()));
  shape[static_cast<std::size_t>(axis)] *= static_cast<std::int64_t>(parts.size());
  return stablehlo::ConcatenateOp::create(builder, location, openTypeOf(input).clone(shape), parts,
                                          axis);
}

/// The indices of row-major position `index`.
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

/// The patches from one slice for each place of the window.
mlir::Value Patches::byWindow() {
  llvm::SmallVector<mlir::Value> slices;
  for (std::int64_t index = 0; index < elementCount(windows.window); ++index)
    slices.push_back(slice(products(placeAt(windows.window, index), windows.dilation),
                           windows.strides, windows.places));
  return joined(slices, static_cast<std::int64_t>(windows.rank()) + 1);
}

/// The patches from one slice for each place of the result. These are fewer if the kernel is as
/// large as an image, as in the gradient of a convolution's weights.
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

mlir::Value patchesOf(mlir::OpBuilder& builder, const Windows& windows, mlir::Value input,
                      mlir::DenseElementsAttr padding) {
  return Patches(builder, windows, input).write(padding);
}

mlir::Value byGroups(mlir::OpBuilder& builder, const Windows& windows, mlir::Value patches) {
  Axes shape(openShapeOf(patches));
  if (windows.batchGroups > 1)
    return reshaped(builder, patches, grouped(shape, 0, windows.batchGroups));
  if (windows.groups == 1)
    return patches;
  const std::int64_t seen = elementCount(windows.window), depth = shape.back() / windows.groups;
  const std::size_t window = shape.size() - 1;
  shape.back() = seen;
  shape.append({windows.groups, depth / seen});
  const mlir::Value apart = transposed(builder, reshaped(builder, patches, shape),
                                       moved(shape.size(), window + 1, window));
  shape.resize(window);
  shape.append({windows.groups, depth});
  return reshaped(builder, apart, shape);
}

/// Cuts off the ends of the input that no window sees, and adjusts `windows`.
static mlir::Value withoutEnds(mlir::OpBuilder& builder, Windows& windows, mlir::Value input) {
  Windows within = windows;
  Axes first, counts;
  for (std::size_t axis = 0; axis < windows.rank(); ++axis) {
    const std::int64_t count = extent(input, static_cast<std::int64_t>(axis) + 1);
    const llvm::BitVector seen = windows.seen(axis, count);
    if (seen.none())
      return input;
    first.push_back(seen.find_first());
    counts.push_back(seen.find_last() + 1 - first.back());
    const std::int64_t step = windows.interior[axis] + 1;
    within.low[axis] += first.back() * step;
    within.high[axis] = (windows.places[axis] - 1) * windows.strides[axis] +
                        (windows.window[axis] - 1) * windows.dilation[axis] - within.low[axis] -
                        (counts.back() - 1) * step;
  }
  if (llvm::ArrayRef(counts) == openShapeOf(input).drop_front().drop_back())
    return input;
  const mlir::Value result = Patches(builder, windows, input).cut(first, counts);
  windows = within;
  return result;
}

ProductOfPatches writePatches(stablehlo::ConvolutionOp op, Windows& windows) {
  mlir::OpBuilder builder(op);
  const mlir::Location location = op.getLoc();
  const auto numbers = op.getDimensionNumbers();
  const std::size_t spatial = windows.rank();
  Axes order = {numbers.getInputBatchDimension()};
  llvm::append_range(order, numbers.getInputSpatialDimensions());
  order.push_back(numbers.getInputFeatureDimension());
  const mlir::Value input = withoutEnds(builder, windows, transposed(builder, op.getLhs(), order));
  const auto zero = llvm::cast<mlir::DenseElementsAttr>(
      builder.getZeroAttr(mlir::RankedTensorType::get({}, openTypeOf(input).getElementType())));
  const mlir::Value patches = patchesOf(builder, windows, input, zero);
  const std::int64_t features = openShapeOf(input).back(), places = elementCount(windows.window);
  const auto last = static_cast<std::int64_t>(spatial) + 1;
  Axes shape(openShapeOf(patches));

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
  const std::int64_t groups = windows.groups, batches = windows.batchGroups;
  const auto dot = [&](mlir::Value lhs, mlir::Value rhs, const Axes& result, const Axes& batching,
                       const Axes& rhsBatching, const Axes& contracting,
                       const Axes& rhsContracting) {
    return stablehlo::DotGeneralOp::create(
        builder, location, openTypeOf(op.getResult()).clone(result), lhs, rhs,
        stablehlo::DotDimensionNumbersAttr::get(op.getContext(), batching, rhsBatching, contracting,
                                                rhsContracting),
        mlir::ArrayAttr(), stablehlo::DotAlgorithmAttr());
  };
  stablehlo::DotGeneralOp product;
  mlir::Value result;
  if (groups > 1) {
    Axes results = {groups};
    results.append(shape.begin(), shape.end() - 1);
    results.push_back(outputs / groups);
    if (mlir::ShapedType::isDynamic(shape.front())) {
      // Several contracted axes merge only if their extents are known. [batch, places.., group,
      // window * features] by [window * features, group, out].
      const mlir::Value rhs =
          reshaped(builder, kernel, {places * (features / groups), groups, outputs / groups});
      product =
          dot(byGroups(builder, windows, patches), rhs, results, {last}, {1}, {last + 1}, {0});
    } else {
      // [batch, places.., window, group, features] by [window, features, group, out].
      Axes sides(shape);
      sides.back() = places;
      sides.append({groups, features / groups});
      const mlir::Value lhs = reshaped(builder, patches, sides),
                        rhs = reshaped(builder, kernel,
                                       {places, features / groups, groups, outputs / groups});
      product = dot(lhs, rhs, results, {last + 1}, {2}, {last, last + 2}, {0, 1});
    }
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
  return {product, input, transposed(builder, result, order)};
}

} // namespace octavo::transforms
