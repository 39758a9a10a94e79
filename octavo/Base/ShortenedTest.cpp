#include "octavo/Base/Shortened.h"

#include <gtest/gtest.h>

namespace octavo::base {
namespace {

TEST(Shortened, whatFitsStays) {
  EXPECT_EQ(shortened(""), "");
  EXPECT_EQ(shortened(std::string(100, 'a'), 100), std::string(100, 'a'));
}

TEST(Shortened, theMiddleIsLeftOutAndCounted) {
  // 55 bytes of 100 stay: 37 at the beginning, 18 at the end.
  const std::string text = "begin" + std::string(90, '-') + "after" + "end";
  ASSERT_EQ(text.size(), 103u);
  const std::string cut = shortened(text, 100);
  EXPECT_EQ(cut, "begin" + std::string(32, '-') + " ... (48 bytes left out) ... " +
                     std::string(10, '-') + "afterend");
  EXPECT_LE(cut.size(), 100u);
}

TEST(Shortened, neverLongerWhateverTheInput) {
  for (const char* unit : {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82", "\x80", "\xff"})
    for (std::size_t count : {1000u, 1901u, 5000u, 1'000'000u}) {
      std::string text;
      for (std::size_t i = 0; i < count; ++i)
        text += unit;
      EXPECT_LE(shortened(text).size(), kLongestMessage);
    }
}

TEST(Shortened, charactersStayWhole) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    for (int i = 0; i < 2000; ++i)
      text += "\xf0\x9f\x99\x82";
    const std::string cut = shortened(text);
    const std::size_t gap = cut.find(" ... (");
    ASSERT_NE(gap, std::string::npos);
    EXPECT_EQ((gap - shift) % 4, 0u) << shift;
    EXPECT_EQ(cut[cut.find(") ... ") + 6], '\xf0') << shift;
  }
}

} // namespace
} // namespace octavo::base
