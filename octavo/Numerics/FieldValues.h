// Test reference for the value of a code: read from the bit fields as each format's document says,
// without code of Numerics. Also the formats of parameterized tests.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace octavo::format {
inline void PrintTo(const ElementFormat& format, std::ostream* out) { *out << format.name; }
} // namespace octavo::format

namespace octavo::numerics::fields {

using format::ElementFormat;
using format::Specials;

/// The value of a code of at most 32 bits.
inline double value(const ElementFormat& format, std::uint64_t code) {
  const int e = format.exponentBits;
  const int m = format.trailingSignificandBits;
  const auto trailing = static_cast<double>(code % (std::uint64_t{1} << m));
  const auto exponent = static_cast<int>((code >> m) % (std::uint64_t{1} << e));
  const bool isNegative = format.specials != Specials::Scale && (code >> (e + m)) % 2 == 1;
  const double sign = isNegative ? -1.0 : 1.0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const int allOnes = (1 << e) - 1;
  switch (format.specials) {
  case Specials::Ieee:
    if (exponent == allOnes)
      return trailing == 0 ? sign * std::numeric_limits<double>::infinity() : nan;
    break;
  case Specials::NanOnly:
    if (exponent == allOnes && trailing == std::exp2(m) - 1)
      return nan;
    break;
  case Specials::UnsignedZero:
    if (isNegative && exponent == 0 && trailing == 0)
      return nan;
    break;
  case Specials::Scale:
    return exponent == allOnes ? nan : std::exp2(exponent - format.bias);
  case Specials::TwosComplement:
    return (trailing - (isNegative ? std::exp2(m) : 0)) / std::exp2(format.bias);
  case Specials::None:
    break;
  }
  if (exponent == 0)
    return sign * std::exp2(1 - format.bias) * (trailing / std::exp2(m));
  return sign * std::exp2(exponent - format.bias) * (1 + trailing / std::exp2(m));
}

/// The formats of at most `width` bits.
inline std::vector<ElementFormat> formatsUpTo(int width) {
  std::vector<ElementFormat> rows;
  for (const ElementFormat& row : format::kElementFormats)
    if (row.width() <= width)
      rows.push_back(row);
  return rows;
}

/// Names a parameterized test by its format.
inline std::string testName(const testing::TestParamInfo<ElementFormat>& info) {
  return std::string(info.param.name);
}

} // namespace octavo::numerics::fields
