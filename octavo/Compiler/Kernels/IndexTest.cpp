// Compares indices with the numbers that they stand for.
#include "octavo/Compiler/Kernels/Index.h"

#include <gtest/gtest.h>

namespace octavo::compiler {
namespace {

/// The value of an index for these values of the variables.
std::int64_t valueOf(const Index& index, llvm::ArrayRef<std::int64_t> variables) {
  std::int64_t value = index.constant();
  for (const Index::Digit& digit : index.digits())
    value += variables[static_cast<std::size_t>(digit.variable)] / digit.divisor % digit.modulus *
             digit.factor;
  return value;
}

TEST(Index, divisionsAreThoseOfTheNumbers) {
  constexpr std::int64_t kRows = 24, kColumns = 60;
  const Index linear = Index::variable(0, kRows) * kColumns + Index::variable(1, kColumns);
  int divided = 0;
  for (const std::int64_t divisor : {1, 2, 3, 4, 5, 6, 7, 10, 12, 15, 20, 30, 60, 120, 240, 1440})
    if (const auto division = linear.dividedBy(divisor)) {
      ++divided;
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t column = 0; column < kColumns; ++column) {
          const std::int64_t number = row * kColumns + column;
          ASSERT_EQ(valueOf(division->quotient, {row, column}), number / divisor);
          ASSERT_EQ(valueOf(division->remainder, {row, column}), number % divisor);
        }
    }
  EXPECT_EQ(divided, 15) << "all but 7 cut a row, or rows, into equal parts";
}

TEST(Index, digitsThatWereParted) {
  const Index linear = Index::variable(0, 360);
  const auto outer = linear.dividedBy(12);
  ASSERT_TRUE(outer);
  const auto inner = outer->remainder.dividedBy(4);
  ASSERT_TRUE(inner);
  EXPECT_EQ(outer->quotient * 12 + inner->quotient * 4 + inner->remainder, linear);
  // In another order they make up another number.
  EXPECT_NE(outer->quotient * 12 + inner->quotient + inner->remainder * 3, linear);
}

TEST(Index, aCarryIsNoDivision) {
  EXPECT_FALSE((Index::variable(0, 8) + 3).dividedBy(8));
  EXPECT_TRUE((Index::variable(0, 5) + 3).dividedBy(8));
  EXPECT_FALSE((Index::variable(0, 8) * -1 + 7).dividedBy(2)) << "counts down";
}

TEST(Index, shapesWithAxesOfOneAndOfNothing) {
  EXPECT_EQ(rowMajorStrides({2, 1, 3}), (llvm::SmallVector<std::int64_t>{3, 3, 1}));
  EXPECT_EQ(rowMajorStrides({4, 0, 3}), (llvm::SmallVector<std::int64_t>{3, 3, 1}));
  EXPECT_EQ(Index::variable(0, 1), Index()) << "takes no other value than 0";
}

} // namespace
} // namespace octavo::compiler
