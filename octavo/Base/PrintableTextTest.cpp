#include "octavo/Base/PrintableText.h"

#include <gtest/gtest.h>

namespace octavo::base {
namespace {

TEST(PrintableText, whatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("a\x1b[31m\r\n\tb"), "a\\x1b[31m\\x0d\\x0a\\x09b");
  EXPECT_EQ(printable("DEL \x7f, CSI \xc2\x9b"), "DEL \\u007f, CSI \\u009b");
  // U+202E turns "gpj.exe" into "exe.jpg"; U+2066 isolates; U+061C, U+200F and U+2028.
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj.exe \xe2\x81\xa6 \xd8\x9c \xe2\x80\x8f \xe2\x80\xa8"),
            "\\u202egpj.exe \\u2066 \\u061c \\u200f \\u2028");
}

TEST(PrintableText, bytesThatAreNoCharacterAreEscaped) {
  EXPECT_EQ(printable("\xff a\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x80"),
            "\\xff a\\xc0\\x80 \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xe2\\x80");
}

TEST(PrintableText, textOfAnyScriptStays) {
  const char* const text = "modèle-重み.weight \xf0\x9f\xa6\x91 \\x1b";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(printable("\x1b\xff")), printable("\x1b\xff"));
}

TEST(PrintableText, newlinesMayBeKept) {
  EXPECT_EQ(printable("a\nb\x1b", Newlines::Kept), "a\nb\\x1b");
}

TEST(PrintableText, quotedTextIsCut) {
  EXPECT_EQ(inQuotes("a\x01"), "\"a\\x01\"");
  EXPECT_EQ(inQuotes(std::string(200, 'x')), '"' + std::string(200, 'x') + '"');
  EXPECT_EQ(inQuotes(std::string(201, 'x')), '"' + std::string(200, 'x') + "...\"");
}

} // namespace
} // namespace octavo::base
