#include "octavo/Checkpoint/Jobs/ExactRecast.h"

#include "octavo/Numerics/Conversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

namespace octavo::checkpoint {
namespace {

using format::ElementFormat;
using format::findElementFormat;

TEST(ExactRecast, ElementsThatHoldTheOthers) {
  // A format holds another one if it has as many exponent and significand bits, and its smallest
  // step and largest value reach as far. Integers have no -0.
  const std::map<std::string, std::set<std::string>> holders = {
      {"e2m1fn", {"e2m1fn", "e2m3fn", "e3m2fn", "e4m3fn", "e5m2"}},
      {"e2m3fn", {"e2m3fn", "e4m3fn"}},
      {"e3m2fn", {"e3m2fn", "e4m3fn", "e5m2"}},
      {"e4m3fn", {"e4m3fn"}},
      {"e5m2", {"e5m2"}},
      {"int8", {"int8"}}};
  for (const auto& [from, expected] : holders)
    for (const auto& [to, others] : holders) {
      const ElementFormat &source = *findElementFormat(from), &target = *findElementFormat(to);
      const auto codes = codesWithValuesOf(source, target);
      EXPECT_EQ(codes.has_value(), expected.contains(to)) << from << " in " << to;
      if (!codes)
        continue;
      for (std::uint32_t code = 0; code < 1u << source.width(); ++code) {
        const double value = numerics::decode(source, code);
        const double there = numerics::decode(target, (*codes)[code]);
        EXPECT_TRUE(std::isnan(value)
                        ? std::isnan(there)
                        : there == value && std::signbit(there) == std::signbit(value))
            << from << " " << code << " in " << to;
        if (from == to)
          EXPECT_EQ((*codes)[code], code);
      }
    }
}

TEST(ExactRecast, TheOuterScalePutsTheLargestAtTheTop) {
  // 2^8 is E4M3's largest power of two. 2^-126 is the smallest normal f32, and 2^126 its inverse.
  for (int most : {-127, -118, -110, 0, 5, 127}) {
    const float outer = outerFor(format::element("e4m3fn"), most);
    EXPECT_EQ(outer, std::ldexp(1.0f, std::max(most - 8, -126))) << most;
    EXPECT_TRUE(std::isnormal(outer) && std::isnormal(1 / outer)) << most;
  }
}

} // namespace
} // namespace octavo::checkpoint
