// Tests data movement and gather against results computed by hand from the specification's
// definitions.
#include "octavo/Interpreter/Tensor/Movement.h"

#include <gtest/gtest.h>

namespace octavo::interpreter {
namespace {

using format::element;
using Shape = std::vector<std::int64_t>;

const IntegerType kI32{32, false};

Tensor tensor(Shape shape, std::vector<std::uint64_t> values, ElementType type = kI32) {
  Tensor result = Tensor::zeros(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    result.setCode(static_cast<std::int64_t>(i), values[i]);
  return result;
}

Tensor counted(Shape shape, ElementType type = kI32) {
  Tensor result = Tensor::zeros(type, std::move(shape));
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.setCode(i, static_cast<std::uint64_t>(i));
  return result;
}

TEST(Movement, Transpose) {
  for (const ElementType& type : {ElementType(IntegerType{8, true}), ElementType(element("f16")),
                                  ElementType(kI32), ElementType(kF64)}) {
    EXPECT_EQ(transpose(counted({2, 3}, type), Shape{1, 0}),
              tensor({3, 2}, {0, 3, 1, 4, 2, 5}, type));
    EXPECT_EQ(transpose(counted({1, 2, 3}, type), Shape{2, 0, 1}),
              tensor({3, 1, 2}, {0, 3, 1, 4, 2, 5}, type));
  }
  EXPECT_EQ(transpose(Tensor::zeros(kI32, {0, 3}), Shape{1, 0}).shape, (Shape{3, 0}));
}

// Elements of 16 bytes move whole.
TEST(Movement, ComplexElements) {
  Tensor x = Tensor::zeros(ComplexType{&element("f64")}, {2, 1});
  for (int i = 0; i < 4; ++i)
    x.as<double>()[i] = i + 1;
  const auto parts = [](const Tensor& t) {
    const auto span = t.as<double>();
    return std::vector<double>(span.begin(), span.end());
  };
  const Tensor zero = Tensor::zeros(x.type, {});
  EXPECT_EQ(parts(transpose(x, Shape{1, 0})), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(parts(reverse(x, Shape{0})), (std::vector<double>{3, 4, 1, 2}));
  EXPECT_EQ(parts(pad(x, zero, Shape{1, 0}, Shape{0, 0}, Shape{0, 0})),
            (std::vector<double>{0, 0, 1, 2, 3, 4}));
  const Tensor* inputs[] = {&x, &x};
  EXPECT_EQ(parts(concatenate(inputs, 1)), (std::vector<double>{1, 2, 1, 2, 3, 4, 3, 4}));
  const Tensor predicate = tensor({2, 1}, {1, 0}, IntegerType{1, false});
  EXPECT_EQ(parts(select(predicate, x, reverse(x, Shape{0}))), (std::vector<double>{1, 2, 1, 2}));
}

TEST(Movement, Broadcast) {
  EXPECT_EQ(broadcastInDim(counted({2}), {2, 3}, Shape{0}), tensor({2, 3}, {0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(broadcastInDim(counted({3}), {2, 3}, Shape{1}), tensor({2, 3}, {0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(broadcastInDim(tensor({1, 2}, {7, 8}), {2, 2}, Shape{0, 1}),
            tensor({2, 2}, {7, 8, 7, 8}));
  EXPECT_EQ(broadcastScalar(tensor({}, {9}), {2}), tensor({2}, {9, 9}));
  EXPECT_EQ(broadcastScalar(tensor({}, {9}), {0, 4}).size(), 0);
}

TEST(Movement, Slice) {
  EXPECT_EQ(slice(counted({3, 4}), Shape{1, 0}, Shape{3, 4}, Shape{1, 3}),
            tensor({2, 2}, {4, 7, 8, 11}));
  EXPECT_EQ(slice(counted({4}), Shape{2}, Shape{2}, Shape{1}).size(), 0);
}

TEST(Movement, Reverse) {
  EXPECT_EQ(reverse(counted({2, 3}), Shape{1}), tensor({2, 3}, {2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(reverse(counted({2, 3}), Shape{0, 1}), tensor({2, 3}, {5, 4, 3, 2, 1, 0}));
}

TEST(Movement, Pad) {
  const Tensor nine = tensor({}, {9});
  EXPECT_EQ(pad(tensor({2}, {1, 2}), nine, Shape{1}, Shape{1}, Shape{2}),
            tensor({6}, {9, 1, 9, 9, 2, 9}));
  // Low edge -1 and high edge -1 of four elements leave the middle two.
  EXPECT_EQ(pad(counted({4}), nine, Shape{-1}, Shape{-1}, Shape{0}), tensor({2}, {1, 2}));
  EXPECT_EQ(pad(Tensor::zeros(kI32, {0}), nine, Shape{2}, Shape{0}, Shape{2}), tensor({2}, {9, 9}));
}

TEST(Movement, Concatenate) {
  const Tensor a = counted({2, 1}), b = tensor({2, 2}, {5, 6, 7, 8}),
               none = Tensor::zeros(kI32, {2, 0});
  const Tensor* inputs[] = {&a, &none, &b};
  EXPECT_EQ(concatenate(inputs, 1), tensor({2, 3}, {0, 5, 6, 1, 7, 8}));
}

TEST(Movement, IotaConverts) {
  EXPECT_EQ(iota(kI32, {2, 3}, 1), tensor({2, 3}, {0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(iota(IntegerType{2, true}, {6}, 0),
            tensor({6}, {0, 1, 2, 3, 0, 1}, IntegerType{2, true}));
  // 17 lies between 16 and 18 in E4M3FN: the tie goes to 16, the even code 0x58.
  EXPECT_EQ(iota(element("e4m3fn"), {18}, 0).code(17), 0x58u);
  EXPECT_EQ(iota(kF32, {0, 2}, 0).size(), 0);
}

// Rows of a table by index, as in an embedding; -1 and 7 are clamped to the table.
TEST(Movement, GatherRowsClamps) {
  const GatherDimensions dimensions{.offsetDims = {1},
                                    .collapsedSliceDims = {0},
                                    .operandBatchingDims = {},
                                    .startIndicesBatchingDims = {},
                                    .startIndexMap = {0},
                                    .indexVectorDim = 1};
  EXPECT_EQ(gather(counted({3, 2}), tensor({4, 1}, {2, 0, 0xFFFFFFFF, 7}), dimensions, Shape{1, 2}),
            tensor({4, 2}, {4, 5, 0, 1, 0, 1, 4, 5}));
}

// Slices of 1 x 2 at [row, column]. The column is clamped to 1 so that the slice fits; the index
// vector is along axis 0.
TEST(Movement, GatherPlaces) {
  const GatherDimensions dimensions{.offsetDims = {0, 1},
                                    .collapsedSliceDims = {},
                                    .operandBatchingDims = {},
                                    .startIndicesBatchingDims = {},
                                    .startIndexMap = {0, 1},
                                    .indexVectorDim = 0};
  EXPECT_EQ(gather(counted({3, 3}), tensor({2, 2}, {0, 2, 1, 2}), dimensions, Shape{1, 2}),
            tensor({1, 2, 2}, {1, 7, 2, 8}));
}

// take_along_axis: for each row, the element that the row's own index names.
TEST(Movement, GatherBatches) {
  const GatherDimensions dimensions{.offsetDims = {},
                                    .collapsedSliceDims = {1},
                                    .operandBatchingDims = {0},
                                    .startIndicesBatchingDims = {0},
                                    .startIndexMap = {1},
                                    .indexVectorDim = 2};
  EXPECT_EQ(gather(counted({3, 4}), tensor({3, 2, 1}, {0, 3, 1, 1, 2, 0}), dimensions, Shape{1, 1}),
            tensor({3, 2}, {0, 3, 5, 5, 10, 8}));
}

} // namespace
} // namespace octavo::interpreter
