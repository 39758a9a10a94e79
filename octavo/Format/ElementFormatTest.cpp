// The element table against the numbers printed in the documents that define the formats.

#include "octavo/Format/ElementFormat.h"

#include <gtest/gtest.h>

#include <cctype>
#include <ostream>
#include <set>
#include <string>
#include <utility>

namespace octavo::format {

void PrintTo(const ElementFormat& format, std::ostream* out) { *out << format.name; }

namespace {

// OCP FP8 1.0, table 2; OCP MX 1.0, tables 2, 4, 5, 6, 7; StableHLO RFC of 2024-08-08 (f8E4M3,
// f8E3M4); arXiv 2206.02915 and StableHLO RFC of 2023-03-21 (FNUZ); IEEE 754, table 3.5.
struct Literal {
  const char* name;
  int width, bias, emin, emax;
  std::uint64_t maxCode;
  std::optional<std::uint64_t> infCode, nanCode;
  bool hasNegativeZero;
};
constexpr Literal kLiterals[] = {
    {"e4m3fn", 8, 7, -6, 8, 0x7E, {}, 0x7F, true},
    {"e5m2", 8, 15, -14, 15, 0x7B, 0x7C, 0x7E, true},
    {"e4m3", 8, 7, -6, 7, 0x77, 0x78, 0x7C, true},
    {"e3m4", 8, 3, -2, 3, 0x6F, 0x70, 0x78, true},
    {"e4m3fnuz", 8, 8, -7, 7, 0x7F, {}, 0x80, false},
    {"e5m2fnuz", 8, 16, -15, 15, 0x7F, {}, 0x80, false},
    {"e4m3b11fnuz", 8, 11, -10, 4, 0x7F, {}, 0x80, false},
    {"e3m2fn", 6, 3, -2, 4, 0x1F, {}, {}, true},
    {"e2m3fn", 6, 1, 0, 2, 0x1F, {}, {}, true},
    {"e2m1fn", 4, 1, 0, 2, 0x7, {}, {}, true},
    {"e8m0fnu", 8, 127, -127, 127, 0xFE, {}, 0xFF, false},
    // Tesla's paper, tables 3 to 5, at biases 7 and 15.
    {"cfloat8_1_4_3", 8, 7, -6, 8, 0x7F, {}, {}, true},
    {"cfloat8_1_5_2", 8, 15, -14, 16, 0x7F, {}, {}, true},
    {"int8", 8, 6, -6, 0, 0x7F, {}, {}, false},
    {"bf16", 16, 127, -126, 127, 0x7F7F, 0x7F80, 0x7FC0, true},
    {"f16", 16, 15, -14, 15, 0x7BFF, 0x7C00, 0x7E00, true},
    {"f32", 32, 127, -126, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, true},
    {"f64", 64, 1023, -1022, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000,
     true},
};

TEST(ElementFormatTest, FactsOfTheDefiningDocuments) {
  for (const Literal& expected : kLiterals) {
    SCOPED_TRACE(expected.name);
    const ElementFormat* row = findElementFormat(expected.name);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->width(), expected.width);
    EXPECT_EQ(row->bytes() * 8, std::max(8, expected.width));
    EXPECT_EQ(row->bias, expected.bias);
    EXPECT_EQ(row->emin(), expected.emin);
    EXPECT_EQ(row->emax(), expected.emax);
    EXPECT_EQ(row->maxCode(), expected.maxCode);
    EXPECT_EQ(row->infCode(), expected.infCode);
    EXPECT_EQ(row->nanCode(), expected.nanCode);
    EXPECT_EQ(row->hasInf(), expected.infCode.has_value());
    EXPECT_EQ(row->hasNan(), expected.nanCode.has_value());
    EXPECT_EQ(row->hasNegativeZero(), expected.hasNegativeZero);
  }
}

/// All codes of a format that `belongs` says yes to.
template <typename Predicate>
std::set<std::uint64_t> codes(const ElementFormat& format, Predicate belongs) {
  std::set<std::uint64_t> found;
  for (std::uint64_t code = 0; code < format.codeCount(); ++code)
    if (belongs(code))
      found.insert(code);
  return found;
}

TEST(ElementFormatTest, NanAndInfCodesAreThoseListed) {
  const auto nan = [](const ElementFormat& f) {
    return codes(f, [&](std::uint64_t code) { return f.isNan(code); });
  };
  const auto inf = [](const ElementFormat& f) {
    return codes(f, [&](std::uint64_t code) { return f.isInf(code); });
  };
  using Codes = std::set<std::uint64_t>;
  EXPECT_EQ(nan(element("e4m3fn")), (Codes{0x7F, 0xFF}));
  EXPECT_EQ(inf(element("e4m3fn")), Codes{});
  EXPECT_EQ(nan(element("e5m2")), (Codes{0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}));
  EXPECT_EQ(inf(element("e5m2")), (Codes{0x7C, 0xFC}));
  // S.1111.{001 .. 111} and S.1111.000 (RFC of 2024-08-08).
  EXPECT_EQ(nan(element("e4m3")), (Codes{0x79, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F, 0xF9, 0xFA, 0xFB,
                                         0xFC, 0xFD, 0xFE, 0xFF}));
  EXPECT_EQ(inf(element("e4m3")), (Codes{0x78, 0xF8}));
  // S.111.MMMM but S.111.0000.
  EXPECT_EQ(nan(element("e3m4")).size(), 30u);
  EXPECT_EQ(inf(element("e3m4")), (Codes{0x70, 0xF0}));
  EXPECT_EQ(nan(element("e8m0fnu")), Codes{0xFF});
  for (const char* name : {"e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz"})
    EXPECT_EQ(nan(*findElementFormat(name)), Codes{0x80}) << name;
  for (const char* name :
       {"e3m2fn", "e2m3fn", "e2m1fn", "cfloat8_1_4_3", "cfloat8_1_5_2", "int8"}) {
    EXPECT_EQ(nan(*findElementFormat(name)), Codes{}) << name;
    EXPECT_EQ(inf(*findElementFormat(name)), Codes{}) << name;
  }
}

TEST(ElementFormatTest, LowestCodes) {
  EXPECT_EQ(element("e4m3fn").lowestCode(), 0xFEu);
  EXPECT_EQ(element("e2m1fn").lowestCode(), 0xFu);
  EXPECT_EQ(element("e8m0fnu").lowestCode(), std::nullopt);
  EXPECT_EQ(element("int8").lowestCode(), 0x80u); // -2 (OCP MX 5.3.4)
}

class EveryElementFormat : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(ElementFormatTest, EveryElementFormat, testing::ValuesIn(kElementFormats),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryElementFormat, FieldsFillTheCode) {
  const ElementFormat& row = GetParam();
  const int sign = row.specials == Specials::Scale ? 0 : 1;
  EXPECT_EQ(row.width(), sign + row.exponentBits + row.trailingSignificandBits);
  EXPECT_LE(row.width(), 64);
  EXPECT_FALSE(row.isNan(row.maxCode()));
  EXPECT_FALSE(row.isInf(row.maxCode()));
  EXPECT_EQ(row.maxCode() & row.signMask(), 0u);
  if (row.hasNan())
    EXPECT_TRUE(row.isNan(*row.nanCode()));
  if (row.hasInf())
    EXPECT_TRUE(row.isInf(*row.infCode()));
}

TEST_P(EveryElementFormat, EachSpellingFindsTheRow) {
  const ElementFormat& row = GetParam();
  for (std::string_view spelling : {row.name, row.mlir, row.numpy, row.torch, row.safetensors}) {
    if (spelling.empty())
      continue;
    const ElementFormat* found = findElementFormat(spelling);
    ASSERT_NE(found, nullptr) << spelling;
    EXPECT_EQ(found->name, row.name) << spelling;
  }
  std::string upper(row.mlir);
  for (char& c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (!upper.empty())
    EXPECT_EQ(findElementFormat(upper), findElementFormat(row.mlir));
}

TEST_P(EveryElementFormat, HasANameAndASource) {
  EXPECT_FALSE(GetParam().name.empty());
  EXPECT_FALSE(GetParam().source.empty());
}

TEST(ElementFormatTest, NoTwoRowsShareASpelling) {
  for (auto spelling : {&ElementFormat::name, &ElementFormat::mlir, &ElementFormat::numpy,
                        &ElementFormat::torch, &ElementFormat::safetensors}) {
    std::set<std::string_view> seen;
    for (const ElementFormat& row : kElementFormats)
      if (!(row.*spelling).empty())
        EXPECT_TRUE(seen.insert(row.*spelling).second) << row.*spelling;
  }
}

// DLDataTypeCode of dlpack.h 1.1; a tensor there says its code and its width.
TEST(ElementFormatTest, DlpackTellsRowsApart) {
  EXPECT_EQ(element("bf16").dlpack, 4);
  EXPECT_EQ(element("e4m3fn").dlpack, 10);
  EXPECT_EQ(element("e8m0fnu").dlpack, 14);
  EXPECT_EQ(element("e2m1fn").dlpack, 17);
  std::set<std::pair<int, int>> seen;
  for (const ElementFormat& row : kElementFormats)
    EXPECT_TRUE(row.dlpack == -1 || seen.insert({row.dlpack, row.width()}).second) << row.name;
}

TEST(ElementFormatTest, UnknownSpellingsFindNothing) {
  for (const char* unknown : {"", " ", "f8", "e4m3fn ", "float8", "f8E4M3FNX", "tf32"})
    EXPECT_EQ(findElementFormat(unknown), nullptr) << unknown;
}

TEST(ElementFormatTest, E4m3IsTheIeeeLikeFormatAndNotOcps) {
  EXPECT_EQ(findElementFormat("e4m3")->specials, Specials::Ieee);
  EXPECT_EQ(findElementFormat("F8_E4M3")->name, "e4m3fn"); // safetensors means FN
  EXPECT_EQ(findElementFormat("f8E4M3")->name, "e4m3");
}

} // namespace
} // namespace octavo::format
