#include "octavo/Program/Steps/Products/WindowLines.h"

#include <gtest/gtest.h>

namespace octavo::program {
namespace {

/// The elements that a window sees, by the index formula of the specification.
std::vector<float> seen(const PatchShape& shape, const std::vector<float>& input,
                        std::int64_t group, std::int64_t row) {
  std::vector<std::int64_t> place(shape.axes.size());
  for (std::size_t axis = place.size(); axis-- > 0; row /= shape.axes[axis].places)
    place[axis] = row % shape.axes[axis].places;
  std::vector<float> patch;
  const std::int64_t image = row + (shape.batchGroups > 1 ? group * shape.batch : 0);
  for (std::int64_t k = 0; k < shape.depth(); ++k) {
    std::int64_t at = shape.inputOffset + image * shape.imageStride + k % shape.features +
                      (shape.inputGroups > 1 ? group * shape.features : 0);
    bool isInside = true;
    std::int64_t rest = k / shape.features;
    for (std::size_t i = place.size(); i-- > 0;) {
      const PatchAxis& axis = shape.axes[i];
      const std::int64_t dilated =
          place[i] * axis.step - axis.low + rest % axis.window * axis.windowDilation;
      rest /= axis.window;
      isInside &= dilated >= 0 && dilated % axis.inputDilation == 0 &&
                  dilated / axis.inputDilation < axis.extent;
      at += dilated / axis.inputDilation * axis.inputStride;
    }
    patch.push_back(isInside ? input[static_cast<std::size_t>(at)] : 0);
  }
  return patch;
}

/// A row-major input with `low` zeros before each axis, two after it, and as many positions as fit.
PatchShape shapeOf(std::int64_t batch, std::int64_t features, std::vector<std::int64_t> extents,
                   kernels::ThreadVector<PatchAxis> axes) {
  PatchShape shape{
      {.type = kernels::PlainType::F32, .batch = batch, .features = features, .outputs = 4},
      std::move(axes)};
  std::int64_t stride = features;
  for (std::size_t i = extents.size(); i-- > 0; stride *= extents[i]) {
    PatchAxis& axis = shape.axes[i];
    axis.extent = extents[i];
    axis.inputStride = stride;
    const std::int64_t padded = (axis.extent - 1) * axis.inputDilation + 1 + axis.low + 2;
    axis.places = (padded - (axis.window - 1) * axis.windowDilation - 1) / axis.step + 1;
  }
  shape.imageStride = stride;
  return shape;
}

PatchAxis axis(std::int64_t window, std::int64_t step = 1, std::int64_t low = 0,
               std::int64_t inputDilation = 1, std::int64_t windowDilation = 1) {
  return {.extent = 0,
          .window = window,
          .places = 0,
          .step = step,
          .low = low,
          .inputDilation = inputDilation,
          .windowDilation = windowDilation};
}

/// The shape with `groups` feature groups side by side.
PatchShape grouped(PatchShape shape, std::int64_t groups) {
  for (PatchAxis& each : shape.axes)
    each.inputStride *= groups;
  shape.imageStride *= groups;
  shape.inputGroups = groups;
  return shape;
}

/// The shape without padding, so that no window sees beyond the input.
PatchShape inside(PatchShape shape) {
  for (PatchAxis& each : shape.axes) {
    each.low = 0;
    each.places = (each.extent - (each.window - 1) * each.windowDilation - 1) / each.step + 1;
  }
  return shape;
}

TEST(WindowLines, HaveWhatWindowsSee) {
  const PatchShape batches = shapeOf(4, 8, {5, 5}, {axis(2, 1, 1), axis(2, 1, 1)});
  PatchShape ofBatches = batches;
  ofBatches.batch = 2;
  ofBatches.batchGroups = 2;
  const PatchShape shapes[] = {
      shapeOf(3, 8, {6, 7}, {axis(3, 1, 1), axis(3, 1, 1)}),
      shapeOf(2, 8, {9, 8}, {axis(3, 2, 1), axis(3, 2, 1)}),
      inside(shapeOf(2, 8, {6, 7}, {axis(3), axis(3)})),
      inside(shapeOf(2, 8, {6, 9}, {axis(2, 1, 0, 1, 2), axis(3, 1, 0, 1, 2)})),
      shapeOf(2, 8, {5, 6}, {axis(2, 1, 2, 2, 3), axis(3, 1, 1, 3, 2)}),
      shapeOf(2, 8, {5, 6}, {axis(2, 1, -1), axis(2, 1, -1)}),
      shapeOf(1, 8, {3, 4, 5}, {axis(2, 1, 1), axis(3, 2), axis(3, 1, 1)}),
      shapeOf(2, 8, {50}, {axis(3, 1, 1)}),
      shapeOf(2, 8, {50}, {axis(1, 3, 1)}),
      grouped(shapeOf(2, 8, {6, 7}, {axis(3, 1, 1), axis(3, 1, 1)}), 3),
      grouped(inside(shapeOf(2, 8, {6, 7}, {axis(3), axis(1)})), 3),
      ofBatches,
  };
  for (std::size_t number = 0; number < std::size(shapes); ++number) {
    const PatchShape& shape = shapes[number];
    ASSERT_TRUE(WindowLines::isWorthIt(shape));
    std::vector<float> input(
        static_cast<std::size_t>(shape.batch * shape.batchGroups * shape.imageStride));
    for (std::size_t i = 0; i < input.size(); ++i)
      input[i] = static_cast<float>(i + 1);
    for (std::int64_t group = 0; group < shape.groups(); ++group)
      for (const std::int64_t block : {shape.rows(), std::int64_t{24}, std::int64_t{5}})
        for (std::int64_t begin = 0; begin < shape.rows(); begin += block) {
          const std::int64_t end = std::min(shape.rows(), begin + block);
          WindowLines lines(shape, input.data(), group);
          const kernels::PiecedRows pieces = lines.of(begin, end);
          for (std::int64_t row = begin; row < end; ++row) {
            std::vector<float> found;
            for (std::size_t piece = 0; piece < pieces.lengths.size(); ++piece) {
              const float* at =
                  pieces.beginnings[static_cast<std::int64_t>(piece) * (end - begin) + row - begin];
              found.insert(found.end(), at, at + pieces.lengths[piece]);
            }
            ASSERT_EQ(found, seen(shape, input, group, row))
                << "shape " << number << ", group " << group << ", row " << row << " of " << begin
                << " to " << end;
          }
        }
  }
}

/// Lines that would be mostly zeros, and short runs, use patches.
TEST(WindowLines, AreOfLongRunsOnLinesOfTheInputsLength) {
  EXPECT_FALSE(WindowLines::isWorthIt(shapeOf(1, 2, {9}, {axis(3)})));
  EXPECT_TRUE(WindowLines::isWorthIt(shapeOf(1, 2, {9}, {axis(4)})));
  EXPECT_FALSE(WindowLines::isWorthIt(shapeOf(1, 8, {9}, {axis(1, 1, 500)})));
}

} // namespace
} // namespace octavo::program
