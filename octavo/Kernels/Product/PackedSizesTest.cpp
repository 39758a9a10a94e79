#include "octavo/Kernels/Product/PackedSizes.h"

#include "octavo/Kernels/Product/ProductTestOperands.h"

#include <gtest/gtest.h>

namespace octavo::kernels {
namespace {

void expectSizes(const ProductPlan& plan, const PackedOperand& right) {
  const auto sizes = rightSizes(plan, right.rows, right.storage);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(right.elements.size(), sizes->elements);
  EXPECT_EQ(right.scales.size(), sizes->scales);
  EXPECT_EQ(right.paddedRows, sizes->paddedRows);
  if (!right.factors.empty()) {
    EXPECT_EQ(right.factors.size(), sizes->factors);
  }
}

TEST(PackedSizes, areThoseOfWhatIsPacked) {
  Random random(7);
  int plans = 0;
  for (const format::ScaledFormat& row : format::kScaledFormats)
    for (const std::int64_t depth : {32, 96, 256, 1000})
      for (const std::int64_t rows : {1, 16, 37})
        for (const Range range : {Range::Ordinary, Range::Extreme})
          for (const OperandFormat& left : {floatOperand(), operandFormat(row)}) {
            const auto plan = productPlan(left, operandFormat(row), depth);
            if (!plan)
              continue;
            ++plans;
            PackedOperand right =
                pack(draw(plan->right, rows, depth, range, random), Side::Right, *plan);
            SCOPED_TRACE(row.rowName());
            expectSizes(*plan, right);
            expectSizes(*plan, decodedAhead(*plan, std::move(right)));
          }
  EXPECT_GT(plans, 100);
}

TEST(PackedSizes, areNoneOfNibblesThatAProductDoesNotRead) {
  const OperandFormat int8 = operandFormat(*format::findScaledFormat("mxint8"));
  EXPECT_FALSE(rightSizes(*productPlan(int8, int8, 64), 16, PackedOperand::Storage::Nibbles));
}

} // namespace
} // namespace octavo::kernels
