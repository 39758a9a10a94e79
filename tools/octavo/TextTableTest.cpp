#include "tools/octavo/TextTable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace octavo::tools {
namespace {

TEST(TextTable, ARowIsALineIfItFits) {
  EXPECT_EQ(plainText({{"name", "n"}, {"a long name", "1"}}, 100), "name         n\n"
                                                                   "a long name  1\n");
}

TEST(TextTable, LongCellsGoOnInTheNextLine) {
  EXPECT_EQ(plainText({{"name", "why", "n"}, {"model/layers/0/mlp", "it is too long", "1"}}, 24),
            "name       why         n\n"
            "model/     it is too   1\n"
            "layers/0/  long\n"
            "mlp\n");
}

TEST(TextTable, NothingIsLostAndNoLineIsTooLong) {
  const std::string path(300, 'x');
  const std::string sentence = "every word of this sentence is somewhere in the table of this test";
  for (const std::size_t most : {40U, 60U, 100U}) {
    const std::string text =
        plainText({{"a", "b", "c"}, {path, sentence, "1"}, {"y", sentence, path}}, most);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), most) << line;
    EXPECT_EQ(std::ranges::count(text, 'x'), 600);
    std::string letters = text, words = sentence + sentence;
    for (const char letter : {'w', 'q', 'm', 'd'})
      EXPECT_EQ(std::ranges::count(letters, letter), std::ranges::count(words, letter));
  }
}

TEST(TextTable, NoCharacterIsCut) {
  EXPECT_EQ(plainText({{"name"}, {"aaaaaaa\u00e9\u00e9"}}, 8), "name\naaaaaaa\n\u00e9\u00e9\n");
}

} // namespace
} // namespace octavo::tools
