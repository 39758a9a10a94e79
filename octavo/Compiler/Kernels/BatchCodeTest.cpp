// Recognizes extents in the texts of two or three batch sizes, and makes code for any batch size.
#include "octavo/Compiler/Kernels/BatchCode.h"

#include <gtest/gtest.h>

#include <string>

namespace octavo::compiler {
namespace {

constexpr std::int64_t kItems[] = {1009, 2027, 4093};
const ItemCounts kTwo = ItemCounts(kItems).take_front(2);

std::vector<std::int64_t> valuesOf(const auto& f, ItemCounts items) {
  std::vector<std::int64_t> values;
  for (const std::int64_t each : items)
    values.push_back(f(each));
  return values;
}

TEST(BatchExtent, isSoManyForEachAndSoManyBesides) {
  for (const BatchExtent number :
       {BatchExtent{0, 1}, {0, 6}, {12, 0}, {-1, 1}, {5, -6}, {100000, 64}, {3000000, 0}})
    for (const ItemCounts items : {kTwo, ItemCounts(kItems)})
      EXPECT_EQ(itemNumber(valuesOf([&](std::int64_t n) { return number.of(n); }, items), items),
                number);
}

TEST(BatchExtent, isOfPairsWhereThreeCountsTellThem) {
  for (const BatchExtent number : {BatchExtent{0, 0, 1}, {0, 64, 4}, {-7, 1, 12}, {5, -6, 1}}) {
    const auto of = [&](ItemCounts items) {
      return itemNumber(valuesOf([&](std::int64_t n) { return number.of(n); }, items), items);
    };
    EXPECT_EQ(of(kItems), number);
    EXPECT_EQ(of(kTwo), std::nullopt);
  }
}

TEST(BatchExtent, isNothingElseOfThem) {
  for (const ItemCounts items : {kTwo, ItemCounts(kItems)}) {
    const auto of = [&](auto f) { return itemNumber(valuesOf(f, items), items); };
    EXPECT_EQ(of([](std::int64_t n) { return n * (n + 1) / 2; }), std::nullopt);
    EXPECT_EQ(of([](std::int64_t n) { return n * n * n; }), std::nullopt);
    EXPECT_EQ(of([](std::int64_t n) { return (n * n + 31) / 32; }), std::nullopt);
    EXPECT_EQ(of([](std::int64_t n) { return n * ((n + 31) / 32); }), std::nullopt);
    for (std::int64_t divisor = 2; divisor < 1009; ++divisor) {
      EXPECT_EQ(of([=](std::int64_t n) { return n / divisor; }), std::nullopt) << divisor;
      EXPECT_EQ(of([=](std::int64_t n) { return (n + divisor - 1) / divisor; }), std::nullopt);
    }
  }
}

TEST(BatchExtent, isNotNegativeFromSomeItemsOn) {
  const auto from = [](const BatchExtent& number) { return program::whereNotNegative(number); };
  EXPECT_EQ(from({-10, 3}), 4);
  EXPECT_EQ(from({-10, 0, 1}), 4);
  EXPECT_EQ(from({0, -5, 1}), 5); // n * (n - 5)
  EXPECT_EQ(from({5, -6, 1}), 5); // (n - 1) * (n - 5)
  EXPECT_EQ(from({6, -5, 1}), 0); // (n - 2) * (n - 3)
  EXPECT_EQ(from({7, -5, 1}), 0);
  EXPECT_EQ(from({3, 1, -1}), std::nullopt);
  EXPECT_EQ(from({3, -1}), std::nullopt);
  EXPECT_EQ(from({-1}), std::nullopt);
}

TEST(Comparisons, areKeptWhereTheyHold) {
  Comparisons outer;
  EXPECT_TRUE(isLess(1, 2));
  {
    Comparisons inner;
    EXPECT_TRUE(isLess(5, 1009));
    EXPECT_FALSE(isLess(7, 7));
    EXPECT_EQ(inner.take(), std::vector<Comparison>({{5, 1009}}));
  }
  EXPECT_TRUE(isLess(1, 2));
  EXPECT_EQ(outer.take(), std::vector<Comparison>({{1, 2}}));
}

TEST(Comparisons, holdForFewerItems) {
  const auto from = [](Comparison one, Comparison other) {
    return whereLess({{one}, {other}}, kTwo);
  };
  EXPECT_EQ(from({1008, 1009}, {2026, 2027}), 0); // n - 1 < n
  EXPECT_EQ(from({0, 1009}, {0, 2027}), 1);
  EXPECT_EQ(from({5, 1009}, {5, 2027}), 6);
  EXPECT_EQ(from({5, 2018}, {5, 4054}), 3);
  EXPECT_EQ(from({5, 7}, {5, 7}), 0);
  EXPECT_EQ(from({1009, 5000}, {2027, 5000}), std::nullopt); // not from 5000 on
  EXPECT_EQ(whereLess({{{1, 2}}, {}}, kTwo), std::nullopt);
}

/// A kernel that iterates over `columns` columns, with `use` in the loop.
std::string text(std::int64_t columns, const std::string& use) {
  return "define internal void @loops(ptr noalias %0, i64 %1, i64 %2) {\n"
         "entry:\n  br label %loop\n"
         "loop:\n  %3 = phi i64 [ 0, %entry ], [ %5, %loop ]\n  " +
         use + "\n  %5 = add nsw i64 %3, 1\n  %6 = icmp slt i64 %5, " + std::to_string(columns) +
         "\n  br i1 %6, label %loop, label %after\n"
         "after:\n  ret void\n}\n"
         "define void @kernel(ptr %0, i64 %1, i64 %2) {\n"
         "entry:\n  %3 = load ptr, ptr %0, align 8\n"
         "  call void @loops(ptr %3, i64 %1, i64 %2)\n  ret void\n}\n";
}

TEST(KernelOfItems, takesThemFromBehindItsArguments) {
  const auto of = [](std::int64_t n) {
    return text(n, "%4 = add i64 %3, " + std::to_string(6 * n - 1));
  };
  const auto found = kernelOfItems({of(kTwo[0]), of(kTwo[1])}, kTwo);
  ASSERT_TRUE(found);
  for (const char* part :
       {"i64 %items)", "mul nsw i64 %items, 6", "icmp slt i64 %", ", %items\n", "load i64, ptr",
        "getelementptr inbounds ptr, ptr %0, i64 1", "define internal void @loops(ptr noalias %0"})
    EXPECT_NE(found->text.find(part), std::string::npos) << part << "\n" << found->text;
  EXPECT_EQ(found->text.find("1009"), std::string::npos) << found->text;
  EXPECT_EQ(found->fewest, 1);
}

TEST(KernelOfItems, computesWithPairsOfThem) {
  std::vector<std::string> texts;
  for (const std::int64_t n : kItems)
    texts.push_back(text(n, "%4 = add i64 %3, " + std::to_string(4 * n * n + 6 * n - 1)));
  const auto found = kernelOfItems(texts, kItems);
  ASSERT_TRUE(found);
  for (const char* part : {"mul nsw i64 %items, 4", ", 6\n", ", %items\n", ", -1\n"})
    EXPECT_NE(found->text.find(part), std::string::npos) << part << "\n" << found->text;
}

TEST(KernelOfItems, isOfSoManyThatLoopsGoRoundAndDivisorsAreSome) {
  const auto fewest = [](std::int64_t less, const char* use) {
    const auto of = [&](std::int64_t n) { return text(n, use + std::to_string(n - less)); };
    return kernelOfItems({of(kTwo[0]), of(kTwo[1])}, kTwo)->fewest;
  };
  EXPECT_EQ(fewest(1, "%4 = add i64 %3, "), 1); // the last place, and the loop over all
  EXPECT_EQ(fewest(1, "%4 = srem i64 %3, "), 2);
  EXPECT_EQ(fewest(5, "%4 = sdiv i64 %3, "), 6);
}

TEST(KernelOfItems, isOfAsManyAsItsStackHasRowsOf) {
  const auto of = [](std::int64_t n) {
    return text(7, "%4 = alloca float, i64 " + std::to_string(n + 1));
  };
  const auto found = kernelOfItems({of(kTwo[0]), of(kTwo[1])}, kTwo);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->most, 64 * 1024 - 1);
}

TEST(KernelOfItems, isNoneOfWhatDiffersOtherwise) {
  const auto found = [](const std::string& one, const std::string& other) {
    return kernelOfItems({text(kTwo[0], one), text(kTwo[1], other)}, kTwo).has_value();
  };
  EXPECT_TRUE(found("%4 = add i64 %3, 5", "%4 = add i64 %3, 5"));
  EXPECT_FALSE(found("%4 = add i64 %3, 5", "%4 = mul i64 %3, 5"));
  EXPECT_FALSE(found("%4 = add i64 %3, 252", "%4 = add i64 %3, 506")); // a quarter
  EXPECT_FALSE(found("%4 = add i32 1, 1009", "%4 = add i32 1, 2027")); // no size
  EXPECT_FALSE(found("%4 = fadd float 1.0, 2.0", "%4 = fadd float 1.0, 4.0"));
}

} // namespace
} // namespace octavo::compiler
