// Tests codecs against the scalar conversions, over all codes and every rounding boundary.
#include "octavo/Interpreter/Tensor/Codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace octavo::interpreter {
namespace {

/// Values around rounding boundaries: each value of the format, the midpoints between neighbours,
/// and the adjacent f64 on both sides; infinities, NaN, and values far beyond.
std::vector<double> boundaries(const ElementFormat& format) {
  std::vector<double> values{0.0, INFINITY, NAN, 0x1p-1074, 0x1p-1022, 0x1.8p1023};
  double last = 0.0;
  for (std::uint64_t code = 0; code <= format.maxCode(); ++code) {
    const double value = numerics::decode(format, code);
    for (const double at : {value, last + (value - last) / 2})
      for (const double to : {-INFINITY, INFINITY})
        values.push_back(std::nextafter(at, to));
    values.push_back(value);
    values.push_back(last + (value - last) / 2);
    last = value;
  }
  // The first tie beyond the largest value, if the exponent range had no end.
  const double spacing = last - numerics::decode(format, format.maxCode() - 1);
  for (const double at : {last + spacing / 2, last + spacing, 2 * last})
    values.insert(values.end(), {at, std::nextafter(at, 0.0), std::nextafter(at, INFINITY)});
  return values;
}

TEST(Codec, encodesAndDecodesAsTheScalarConversionsDo) {
  for (const ElementFormat& format : format::kElementFormats)
    withCodec(format, [&](const auto& codec) {
      if (format.width() > 16)
        return;
      using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
      for (std::uint64_t code = 0; code < (std::uint64_t{1} << format.width()); ++code) {
        const double expected = numerics::decode(format, code);
        const double found = codec.decode(static_cast<Container>(code));
        ASSERT_TRUE(found == expected || (found != found && expected != expected))
            << format.name << " " << code;
        ASSERT_EQ(std::signbit(found), std::signbit(expected)) << format.name << " " << code;
      }
      for (const double value : boundaries(format))
        for (const double x : {value, -value})
          ASSERT_EQ(codec.encode(x), numerics::convert(format, canonicalNan(x)))
              << format.name << " " << x;
    });
}

TEST(Codec, encodesArbitraryBits) {
  std::mt19937_64 random(1);
  for (const ElementFormat& format : format::kElementFormats)
    withCodec(format, [&](const auto& codec) {
      for (int i = 0; i < 100000; ++i) {
        // Half of them in the format's exponent range, half anywhere.
        double x = std::bit_cast<double>(random());
        if (i % 2 == 0)
          x = std::ldexp(
              std::bit_cast<double>((random() >> 12) | 0x3FF0000000000000) * (i % 4 == 0 ? 1 : -1),
              format.emin() - format.trailingSignificandBits - 2 + static_cast<int>(random() % 64));
        const auto code = codec.encode(x);
        using Container = std::remove_cvref_t<decltype(code)>;
        const auto expected = numerics::convert(format, canonicalNan(x));
        if constexpr (std::is_same_v<Container, float>)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(code), expected) << x;
        else if constexpr (std::is_same_v<Container, double>)
          ASSERT_EQ(std::bit_cast<std::uint64_t>(code), expected) << x;
        else
          ASSERT_EQ(code, expected) << format.name << " " << x;
      }
    });
}

TEST(Codec, integersAreExtendedByTheirSignAndTruncated) {
  for (const int width : {1, 2, 4, 8, 16, 32, 64})
    for (const bool isUnsigned : {false, true})
      withCodec(IntegerType{width, isUnsigned}, [&](const auto& codec) {
        using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
        const std::uint64_t ones = ~std::uint64_t{0} >> (64 - width);
        const bool isSigned = !isUnsigned && width > 1;
        EXPECT_EQ(codec.decode(static_cast<Container>(ones)), isSigned ? ~std::uint64_t{0} : ones);
        EXPECT_EQ(codec.encode(~std::uint64_t{0}), ones);
        EXPECT_EQ(codec.encode(~std::uint64_t{0} - 1), ones - 1);
      });
}

} // namespace
} // namespace octavo::interpreter
