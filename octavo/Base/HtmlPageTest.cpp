#include "octavo/Base/HtmlPage.h"

#include <gtest/gtest.h>

namespace octavo::base {
namespace {

TEST(HtmlPage, namesAreNoMarkup) {
  EXPECT_EQ(inHtml("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(inHtml("\x1b[31m\xff").find('\x1b'), std::string::npos);
}

TEST(HtmlPage, namesBreakAfterTheirParts) {
  EXPECT_EQ(nameInHtml("a.b/c&d"), "a.<wbr>b/<wbr>c&amp;d");
}

TEST(HtmlPage, beginsAsItsGeneratorsPagesDo) {
  const std::string page = pageHead("octavo x", "<t>", "b{}");
  EXPECT_TRUE(page.starts_with(pageBeginning("octavo x")));
  EXPECT_FALSE(page.starts_with(pageBeginning("octavo y")));
  EXPECT_NE(page.find("<title>&lt;t&gt;</title>"), std::string::npos);
}

} // namespace
} // namespace octavo::base
