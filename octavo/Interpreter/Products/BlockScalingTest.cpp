// Tests XLA's block scaling custom calls (rule I15) against values computed by hand.
#include "octavo/Interpreter/Products/BlockScaling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace octavo::interpreter {
namespace {

using format::element;

TEST(BlockScaling, QuantizeIsNearestAndDoesNotClamp) {
  // emax of E4M3 is 8. Block 0: amax 384 = 1.5 * 2^8, a tie: up, scale 2. Block 1: amax 383: scale
  // 1, 383 -> 384. Block 2: amax 480 / 256 = 1.875: scale 2.
  const Tensor x =
      encodeElements(element("f32"), {3, 2}, std::vector<double>{384, 3, 383, -1, 480, 1});
  const ElementsAndScales parts = quantizeBlocks(x, element("e4m3fn"), element("e8m0fnu"), {3, 1});
  EXPECT_EQ(parts.scales.code(0), 128u);
  EXPECT_EQ(parts.scales.code(1), 127u);
  EXPECT_EQ(parts.scales.code(2), 128u);
  EXPECT_EQ(decodeElements(parts.elements), (std::vector<double>{192, 1.5, 384, -1, 240, 0.5}));
}

TEST(BlockScaling, ZeroBlockAndNanGiveNan) {
  const Tensor x = encodeElements(element("f32"), {2, 2}, std::vector<double>{0, 0, NAN, 1});
  const ElementsAndScales parts = quantizeBlocks(x, element("e4m3fn"), element("e8m0fnu"), {2, 1});
  for (int i : {0, 1})
    EXPECT_EQ(parts.scales.code(i), 0xFFu);
  for (int i : {0, 1, 2, 3})
    EXPECT_EQ(parts.elements.code(i), 0x7Fu);
}

TEST(BlockScaling, DequantizeIgnoresPaddedScales) {
  const Tensor elements =
      encodeElements(element("e2m1fn"), {2, 3}, std::vector<double>{1, 6, -0.5, 2, 3, 4});
  Tensor scales = Tensor::zeros(element("e8m0fnu"), {4, 4});
  for (std::int64_t i = 0; i < 16; ++i)
    scales.setCode(i, 0xFF);
  scales.setCode(0, 128); // row 0, columns 0 and 1: 2
  scales.setCode(1, 126); // row 0, column 2: 0.5
  scales.setCode(4, 127);
  scales.setCode(5, 129);
  EXPECT_EQ(scalesMisfit(elements, scales, 2), "");
  EXPECT_EQ(decodeElements(dequantizeBlocks(elements, scales, 2, element("f32"))),
            (std::vector<double>{2, 12, -0.25, 2, 3, 16}));
}

TEST(BlockScaling, MisfitsAreNamed) {
  const Tensor elements = Tensor::zeros(element("e2m1fn"), {2, 64});
  EXPECT_NE(scalesMisfit(elements, Tensor::zeros(element("e8m0fnu"), {2, 1}), 32), "");
  EXPECT_NE(scalesMisfit(elements, Tensor::zeros(element("e8m0fnu"), {1, 2}), 32), "");
  EXPECT_NE(scalesMisfit(elements, Tensor::zeros(element("e8m0fnu"), {2}), 32), "");
  EXPECT_NE(scalesMisfit(elements, Tensor::zeros(element("e8m0fnu"), {2, 2}), 0), "");
}

} // namespace
} // namespace octavo::interpreter
