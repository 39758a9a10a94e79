// Chains of conversions, held against every code of every format of up to 16 bits, and of f32 and
// f64 against codes at the ends of each field and random ones.

#include "octavo/Numerics/ConversionChain.h"

#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/FieldValues.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace octavo::numerics {
namespace {

using format::element;
using format::kElementFormats;

/// All codes of up to 16 bits. Of wider formats: every exponent with the trailing significands
/// that end and begin ranges and lie beside the ties of narrower formats, and random codes.
std::vector<std::uint64_t> codes(const ElementFormat& format) {
  std::vector<std::uint64_t> result;
  if (format.width() <= 16) {
    for (std::uint64_t code = 0; code < format.codeCount(); ++code)
      result.push_back(code);
    return result;
  }
  const int m = format.trailingSignificandBits;
  const std::uint64_t trailingMask = (std::uint64_t{1} << m) - 1;
  for (std::uint64_t exponent = 0; exponent < std::uint64_t{1} << format.exponentBits; ++exponent)
    for (int bit = -1; bit < m; bit += 3)
      for (const int beside : {-1, 0, 1}) {
        const std::uint64_t tie = bit < 0 ? 0 : std::uint64_t{1} << bit;
        const std::uint64_t trailing = (tie + static_cast<std::uint64_t>(beside)) & trailingMask;
        const std::uint64_t code = exponent << m | trailing;
        result.push_back(code);
        result.push_back(code | format.signMask());
      }
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i)
    result.push_back(random() & format.codeMask());
  return result;
}

bool chainIsDirect(const std::vector<double>& values, const ElementFormat& through,
                   const ElementFormat& to) {
  for (const double value : values)
    if (convert(to, decode(through, convert(through, value))) != convert(to, value))
      return false;
  return true;
}

class ChainsFrom : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(ConversionChainTest, ChainsFrom, testing::ValuesIn(kElementFormats),
                         fields::testName);

TEST_P(ChainsFrom, WhatIsTransparentChangesNoCode) {
  const ElementFormat& from = GetParam();
  std::vector<double> values;
  for (const std::uint64_t code : codes(from))
    values.push_back(decode(from, code));
  for (const ElementFormat& through : kElementFormats)
    for (const ElementFormat& to : kElementFormats)
      if (isTransparent(from, through, to)) {
        EXPECT_TRUE(chainIsDirect(values, through, to)) << through.name << ", " << to.name;
      }
}

TEST_P(ChainsFrom, ThereAndBackIsTransparentExactlyWhereNoCodeChanges) {
  const ElementFormat& from = GetParam();
  std::vector<double> values;
  for (const std::uint64_t code : codes(from))
    values.push_back(decode(from, code));
  for (const ElementFormat& through : kElementFormats)
    if (!from.isInteger() && !through.isInteger()) {
      EXPECT_EQ(isTransparent(from, through, from), chainIsDirect(values, through, from))
          << through.name;
    }
}

TEST(ConversionChainTest, WellKnownPairs) {
  const ElementFormat& f32 = element("f32");
  const ElementFormat& bf16 = element("bf16");
  const ElementFormat& f16 = element("f16");
  const ElementFormat& e4m3fn = element("e4m3fn");
  EXPECT_TRUE(isTransparent(e4m3fn, f32, f16));
  EXPECT_TRUE(isTransparent(bf16, f32, bf16));
  EXPECT_TRUE(isTransparent(f32, element("f64"), e4m3fn));
  EXPECT_FALSE(isTransparent(f32, e4m3fn, f32));  // fake quantization
  EXPECT_FALSE(isTransparent(f32, bf16, e4m3fn)); // two roundings
  EXPECT_FALSE(isTransparent(f16, bf16, f32));
  EXPECT_FALSE(isTransparent(bf16, f16, f32)); // range
  EXPECT_FALSE(isTransparent(e4m3fn, element("e5m2"), f32));
  EXPECT_FALSE(isTransparent(element("e2m1fn"), element("e4m3fnuz"), f32)); // the sign of zero
  EXPECT_TRUE(isTransparent(element("e2m1fn"), element("e4m3fnuz"), element("e5m2fnuz")));
}

TEST(ConversionChainTest, ReducePrecisionIsAConversionWhereItSaysSo) {
  std::string found;
  for (const ElementFormat& source : kElementFormats)
    for (int exponentBits = 1; exponentBits <= 11; ++exponentBits)
      for (int trailing = 0; trailing <= 52; ++trailing) {
        const ElementFormat* format = formatOfReducePrecision(source, exponentBits, trailing);
        if (format == nullptr)
          continue;
        found += std::string(source.name) + ">" + std::string(format->name) + " ";
        for (const std::uint64_t code : codes(source)) {
          const double value = decode(source, code);
          EXPECT_EQ(convert(source, reducePrecision(source, value, exponentBits, trailing)),
                    convert(source, decode(*format, convert(*format, value))))
              << source.name << " " << format->name << " " << code;
        }
      }
  // f32 has the exponents of bf16, f16 those of e5m2; every other IEEE pair differs in subnormals.
  EXPECT_EQ(found, "f16>e5m2 f32>bf16 ");
}

} // namespace
} // namespace octavo::numerics
