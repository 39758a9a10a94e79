// Tests checkBytecode on handmade files. Each has one fault that MLIR's reader does not check.
#include "octavo/Dialect/VHLO/CheckBytecode.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::vhlo {

namespace {

/// A number in MLIR's encoding: up to 2^14 in two bytes, others in nine.
std::string number(std::uint64_t value) {
  std::string bytes;
  if (value < 0x80)
    return {static_cast<char>(value << 1 | 1)};
  if (value < 0x4000) {
    bytes += static_cast<char>(value << 2 | 2);
    return bytes + static_cast<char>(value >> 6);
  }
  bytes += '\0';
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string numbers(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (const std::uint64_t value : values)
    bytes += number(value);
  return bytes;
}

/// An entry of a dialect of the file: builtin 0, vhlo 1, sdy 2.
struct Entry {
  std::uint64_t dialect;
  std::string bytes;
  bool isText = false;
};

/// An entry of builtin or vhlo: its code and fields, all numbers.
Entry builtin(const std::vector<std::uint64_t>& fields) { return {0, numbers(fields)}; }
Entry vhlo(const std::vector<std::uint64_t>& fields) { return {1, numbers(fields)}; }
Entry sdy(const std::vector<std::uint64_t>& fields) { return {2, numbers(fields)}; }

std::string section(char id, const std::string& contents) {
  return id + number(contents.size()) + contents;
}

std::string file(const std::string& strings, const std::string& dialects,
                 const std::string& entries, const std::string& sizes,
                 const std::string& properties = number(0)) {
  using namespace std::string_literals;
  return "ML\xefR\x0d"s + "test\0"s + section(0, strings) + section(1, dialects) +
         section(8, properties) + section(3, sizes) + section(2, entries) + section(4, number(0));
}

std::string strings() {
  using namespace std::string_literals;
  return numbers({3, 4, 5, 8}) + "builtin\0vhlo\0sdy\0"s;
}
std::string dialects() { return numbers({3, 0 << 1, 1 << 1, 2 << 1, 0}); }

/// The damage found in a file with these attributes and types; empty if none.
std::string found(const std::vector<Entry>& attributes, const std::vector<Entry>& types = {}) {
  std::string entries, sizes = numbers({attributes.size(), types.size()});
  for (const std::vector<Entry>& table : {attributes, types})
    for (const Entry& entry : table) {
      entries += entry.bytes;
      sizes += numbers({entry.dialect, 1, entry.bytes.size() << 1 | (entry.isText ? 0 : 1)});
    }
  return checkBytecode(file(strings(), dialects(), entries, sizes)).value_or("nothing");
}

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                              : testing::AssertionFailure() << text;
}

// Codes: builtin's array 0, dictionary 1, string 2, location of a call 10, function type 2, tuple
// 15, tensor with an encoding 14; vhlo's array 1, tuple 23; sdy's reference to an axis 4.

TEST(CheckBytecode, TakesWhatRefersToOneAnother) {
  EXPECT_EQ(found({builtin({0, 2, 1, 2}), builtin({2, 0}), builtin({1, 1, 1, 3}), builtin({6, 0}),
                   vhlo({1, 1, 0}), sdy({4, 0, 6 << 1 | 1}), sdy({3, 0, 0})},
                  {builtin({2, 1, 1, 1, 1}), builtin({5}), vhlo({23, 2, 0, 1})}),
            "nothing");
}

TEST(CheckBytecode, CirclesOfAttributesAndTypes) {
  EXPECT_TRUE(contains(found({builtin({0, 1, 0})}), "an attribute that contains itself at byte "));
  EXPECT_TRUE(contains(found({builtin({10, 1, 1}), builtin({10, 0, 0})}), "contains itself"));
  EXPECT_TRUE(contains(found({vhlo({1, 1, 1}), builtin({1, 1, 2, 0}), builtin({2, 0})}),
                       "an attribute that contains itself"));
  EXPECT_TRUE(contains(found({sdy({4, 0, 0 << 1 | 1})}), "an attribute that contains itself"));
  EXPECT_TRUE(contains(found({}, {builtin({15, 1, 0})}), "a type that contains itself"));
  EXPECT_TRUE(contains(found({}, {vhlo({23, 1, 1}), vhlo({23, 1, 0})}), "a type that contains"));
  // A tensor type whose encoding is a type attribute of the tensor type itself.
  EXPECT_TRUE(contains(found({builtin({6, 0})}, {builtin({14, 0, 0, 0})}), "contains itself"));
}

TEST(CheckBytecode, ListsLongerThanTheirEntry) {
  EXPECT_TRUE(contains(found({builtin({0, 5'000'000'000})}), "5000000000 elements of a list at"));
  EXPECT_TRUE(
      contains(found({}, {builtin({2, 0, 5'000'000'000})}), "5000000000 elements of a list"));
  EXPECT_TRUE(contains(found({}, {vhlo({23, 3, 0})}), "3 elements of a list"));
}

TEST(CheckBytecode, EntriesThatNestTooDeep) {
  const auto chain = [](std::uint64_t levels) {
    std::vector<Entry> attributes{builtin({0, 0})};
    while (attributes.size() < levels)
      attributes.push_back(builtin({0, 1, attributes.size() - 1}));
    return attributes;
  };
  EXPECT_EQ(found(chain(1000)), "nothing");
  EXPECT_TRUE(contains(found(chain(1001)), "in one another deeper than 1000 levels at byte "));
  const auto text = [](std::size_t levels) {
    return Entry{0, std::string(levels, '[') + std::string(levels, ']') + '\0', true};
  };
  EXPECT_EQ(found({text(1000)}), "nothing");
  EXPECT_TRUE(contains(found({text(1001)}), "deeper than 1000 levels"));
  EXPECT_EQ(found({{0, "\"" + std::string(1001, '[') + "\"" + '\0', true}}), "nothing");
}

// MLIR reads such an entry by its lexer. An escaped backslash must not hide the quote after it, and
// a quote in a comment does not begin a string.
TEST(CheckBytecode, EntriesWhoseTextHidesThatTheyNestTooDeep) {
  const std::string deep = std::string(1001, '[') + std::string(1001, ']');
  for (const std::string& head : {std::string(R"(["\\", )"), std::string("[ // \"\n"),
                                  std::string("[\"a\\22\", "), std::string("[\"\n")})
    for (const bool isType : {false, true}) {
      const std::vector<Entry> entry = {{0, head + deep + "]" + '\0', true}};
      EXPECT_TRUE(contains(isType ? found({}, entry) : found(entry), "deeper than 1000 levels"))
          << head;
    }
  EXPECT_TRUE(contains(found({{1, "#unknown.a<x // >, " + deep + "\n>" + '\0', true}}),
                       "has a comment with brackets or quotes"));
  for (const char* sign : {"-", "- ", "-//\n"}) {
    std::string text = "affine_map<(d0) -> (";
    for (int i = 0; i < 1001; ++i)
      text += sign;
    EXPECT_TRUE(contains(found({{0, text + "d0)>" + '\0', true}}), "more than 1000 operators"));
  }
}

TEST(CheckBytecode, EntriesThatStandForTooMuch) {
  std::vector<Entry> attributes{builtin({0, 0})};
  while (attributes.size() < 30) // 2^29 of the first in the last
    attributes.push_back(builtin({0, 2, attributes.size() - 1, attributes.size() - 1}));
  EXPECT_TRUE(contains(found(attributes), "an attribute or type of more than 10000000 others"));
}

TEST(CheckBytecode, ReferencesToNothing) {
  EXPECT_TRUE(contains(found({builtin({0, 1, 7})}), "a reference to no attribute or type"));
  EXPECT_TRUE(contains(found({builtin({6, 0})}), "a reference to no attribute or type"));
  EXPECT_TRUE(contains(found({Entry{7, numbers({2, 0})}}), "an attribute or type of no dialect"));
}

TEST(CheckBytecode, TablesOfOtherSizesThanAreSaid) {
  const std::uint64_t many = std::uint64_t{1} << 40;
  const auto of = [](const std::string& text, const std::string& names, const std::string& sizes,
                     const std::string& properties = number(0)) {
    return checkBytecode(file(text, names, number(2), sizes, properties)).value_or("nothing");
  };
  const std::string none = numbers({0, 0});
  EXPECT_EQ(of(strings(), dialects(), none), "nothing");
  EXPECT_TRUE(contains(of(number(many), dialects(), none), "1099511627776 strings at byte"));
  EXPECT_TRUE(contains(of(numbers({1, 0}), numbers({0, 0}), none), "a string without an end"));
  EXPECT_TRUE(
      contains(of(numbers({1, 3}) + "ab", numbers({0, 0}), none), "strings of other length"));
  EXPECT_TRUE(contains(of(strings(), number(many), none), "1099511627776 dialects"));
  EXPECT_TRUE(contains(of(strings(), numbers({1, 8, 0}), none), "a dialect without a name"));
  EXPECT_TRUE(contains(of(strings(), numbers({0, many}), none), "names of operations"));
  EXPECT_TRUE(contains(of(strings(), dialects(), numbers({many, 0})), "1099511627776 attributes"));
  EXPECT_TRUE(contains(of(strings(), dialects(), numbers({0, many})), "1099511627776 types"));
  EXPECT_TRUE(contains(of(strings(), dialects(), numbers({1, 0, 0, 2, 3, 3})),
                       "more attributes or types than are said"));
  EXPECT_TRUE(contains(of(strings(), dialects(), numbers({1, 0, 0, 1, 9})), "that is cut off"));
  EXPECT_TRUE(contains(of(strings(), dialects(), numbers({1, 0, 0, 1})), "are cut off"));
  EXPECT_TRUE(contains(of(strings(), dialects(), none, number(many)), "sets of properties"));
}

} // namespace

} // namespace octavo::vhlo
