// round and convert against a statement that needs no arithmetic: search the sorted list of the
// format's values. Every rounding, both overflow answers, every tie and its neighbours (N4 to N8).

#include "octavo/Numerics/Conversion.h"

#include "octavo/Numerics/FieldValues.h"
#include "octavo/Numerics/TestConstants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace octavo::numerics {
namespace {

constexpr Rounding kRoundings[] = {Rounding::TiesToEven,     Rounding::TiesToAway,
                                   Rounding::TiesTowardZero, Rounding::TowardZero,
                                   Rounding::TowardPositive, Rounding::TowardNegative,
                                   Rounding::Stochastic};

/// A format as the ascending list of its magnitudes of one sign, 0 included where it has one.
class SortedValues {
public:
  SortedValues(const ElementFormat& format, bool isNegative)
      : format(format), isNegative(isNegative) {
    for (std::uint64_t code = 0; code < format.codeCount(); ++code) {
      const double value = fields::value(format, code);
      if (std::isfinite(value) && (value == 0 || (value < 0) == isNegative) &&
          !(value == 0 && std::signbit(value)))
        values.push_back(std::fabs(value));
    }
    std::ranges::sort(values);
    // One more, where the format would go on: the spacing is that below the largest, or, for
    // powers of two, the largest itself.
    const double last = values.back();
    values.push_back(
        last + (format.trailingSignificandBits == 0 ? last : last - values[values.size() - 2]));
  }

  const std::vector<double>& all() const { return values; }

  /// The code that `magnitude` (finite, >= 0) with the list's sign converts to.
  std::uint64_t convert(double magnitude, const Conversion& conversion) const {
    const std::size_t index = nearby(magnitude, conversion);
    if (index + 1 < values.size())
      return codeAt(index);
    const bool stops = conversion.rounding == Rounding::TowardZero ||
                       (conversion.rounding == Rounding::TowardPositive && isNegative) ||
                       (conversion.rounding == Rounding::TowardNegative && !isNegative);
    return stops || conversion.overflow == Overflow::Saturate ? codeAt(values.size() - 2)
                                                              : special();
  }

  /// What an infinity converts to.
  std::uint64_t convertInf(Overflow overflow) const {
    return overflow == Overflow::Saturate ? codeAt(values.size() - 2) : special();
  }

private:
  /// Index of the value that `magnitude` rounds to; that of the last one is an overflow.
  std::size_t nearby(double magnitude, const Conversion& conversion) const {
    const auto above = std::ranges::upper_bound(values, magnitude);
    if (above == values.end())
      return values.size() - 1;
    if (above == values.begin()) // only where there is no zero
      return 0;
    const auto upper = static_cast<std::size_t>(above - values.begin());
    const std::size_t lower = upper - 1;
    if (values[lower] == magnitude)
      return lower;
    const long double spacing = static_cast<long double>(values[upper]) - values[lower];
    const long double x = (static_cast<long double>(magnitude) - values[lower]) / spacing;
    const bool isScale = format.specials == fields::Specials::Scale;
    switch (conversion.rounding) {
    case Rounding::TiesToEven:
      if (isScale)
        return x >= 0.5L || magnitude < 0x1p-126 ? upper : lower; // N7
      return x > 0.5L || (x == 0.5L && lower % 2 == 1) ? upper : lower;
    case Rounding::TiesToAway:
      return x >= 0.5L ? upper : lower;
    case Rounding::TiesTowardZero:
      return x > 0.5L ? upper : lower;
    case Rounding::TowardZero:
      return lower;
    case Rounding::TowardPositive:
      return isNegative ? lower : upper;
    case Rounding::TowardNegative:
      return isNegative ? upper : lower;
    case Rounding::Stochastic:
      return conversion.randomBits < 0x1p32L * x ? upper : lower;
    }
    return lower;
  }

  /// Magnitudes ascend with their codes: the place in the list is the code, but for the sign.
  std::uint64_t codeAt(std::size_t index) const {
    if (format.isInteger())
      return (isNegative ? std::uint64_t{0} - index : index) & format.codeMask();
    return index | (isNegative && (index > 0 || format.hasNegativeZero()) ? format.signMask() : 0);
  }

  std::uint64_t special() const {
    if (format.hasInf())
      return *format.infCode() | (isNegative ? format.signMask() : 0);
    if (!format.hasNan())
      return codeAt(values.size() - 2);
    const bool isSigned = format.specials == fields::Specials::NanOnly;
    return *format.nanCode() | (isNegative && isSigned ? format.signMask() : 0);
  }

  ElementFormat format;
  bool isNegative;
  std::vector<double> values;
};

/// Points at which a rounding can change its answer, and points between.
std::set<double> decisivePoints(const std::vector<double>& values) {
  std::set<double> points{0, std::numeric_limits<double>::denorm_min(), 0x1p-1022,
                          std::numeric_limits<double>::max()};
  const auto add = [&](double x) {
    points.insert({x, std::nextafter(x, kInf), std::nextafter(x, 0.0)});
    const auto f = static_cast<float>(x);
    points.insert(
        {std::nextafter(f, std::numeric_limits<float>::infinity()), std::nextafter(f, 0.0f)});
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    add(values[i]);
    const double step = i + 1 < values.size() ? values[i + 1] - values[i] : values[i];
    add(values[i] + step / 2);
    points.insert({values[i] + step / 4, values[i] + step * 3 / 4});
  }
  for (int shift = 1; shift <= 4; ++shift) {
    add(std::ldexp(values.back(), shift));
    add(std::ldexp(values[values[0] == 0 ? 1 : 0], -shift));
  }
  points.erase(points.upper_bound(std::numeric_limits<double>::max()), points.end());
  return points;
}

class EveryRounding : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(RoundingTest, EveryRounding, testing::ValuesIn(fields::formatsUpTo(16)),
                         fields::testName);

TEST_P(EveryRounding, AgreesWithTheSortedListAtEveryDecisivePoint) {
  const ElementFormat& format = GetParam();
  for (bool isNegative : {false, true}) {
    if (isNegative && !format.isSigned())
      continue;
    const SortedValues list(format, isNegative);
    int wrong = 0;
    for (double magnitude : decisivePoints(list.all()))
      for (Rounding rounding : kRoundings)
        for (Overflow overflow : {Overflow::Saturate, Overflow::Special}) {
          if (magnitude == 0 && !format.hasZero())
            continue; // N7, in ConversionTest
          const double value = isNegative ? -magnitude : magnitude;
          const Conversion conversion{
              .rounding = rounding, .overflow = overflow, .randomBits = 0x80000000};
          const std::uint64_t expected = list.convert(magnitude, conversion);
          const std::uint64_t found = convert(format, value, conversion);
          if (found != expected && ++wrong < 10)
            ADD_FAILURE() << std::hexfloat << value << " " << roundingName(rounding) << " "
                          << overflowName(overflow) << ": code " << std::hex << found
                          << ", expected " << expected;
        }
    EXPECT_EQ(wrong, 0);
  }
}

TEST_P(EveryRounding, InfinityTakesTheOverflowAnswerUnderEveryRounding) {
  const ElementFormat& format = GetParam();
  for (bool isNegative : {false, true})
    for (Rounding rounding : kRoundings)
      for (Overflow overflow : {Overflow::Saturate, Overflow::Special}) {
        if (isNegative && !format.isSigned())
          continue;
        EXPECT_EQ(convert(format, isNegative ? -kInf : kInf,
                          {.rounding = rounding, .overflow = overflow}),
                  SortedValues(format, isNegative).convertInf(overflow));
      }
}

// N5: up when r < 2^32 * x, exactly: at every sixteenth of every interval, r on both sides.
TEST_P(EveryRounding, StochasticComparesExactly) {
  const ElementFormat& format = GetParam();
  const SortedValues list(format, false);
  const std::vector<double>& values = list.all();
  const std::size_t stride = std::max<std::size_t>(1, values.size() / 512);
  for (std::size_t i = 0; i + 1 < values.size(); i += stride)
    for (std::uint32_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
      const double value = values[i] + (values[i + 1] - values[i]) * sixteenth / 16;
      if (value == 0 && !format.hasZero())
        continue;
      const std::uint32_t threshold = sixteenth << 28;
      for (std::uint32_t r : {threshold - 1, threshold, threshold + 1, 0u, ~0u}) {
        const Conversion conversion{
            .rounding = Rounding::Stochastic, .overflow = Overflow::Saturate, .randomBits = r};
        EXPECT_EQ(convert(format, value, conversion), list.convert(value, conversion))
            << value << " r " << r;
        for (double near : {std::nextafter(value, kInf), std::nextafter(value, values[i])})
          if (near > 0)
            EXPECT_EQ(convert(format, near, conversion), list.convert(near, conversion))
                << near << " r " << r;
      }
    }
}

// f32 and f64 have too many values to list: their neighbours are the machine's.
TEST(RoundingTest, F32BetweenItsNeighbours) {
  const ElementFormat& f32 = format::element("f32");
  for (float lower : {1.0f, 1.5f, 0x1.FFFFFEp0f, 0x1p-149f, 0x1.8p-127f, 0x1.FFFFFCp-127f,
                      0x1p-126f, 0x1.23456p100f}) {
    const double upper = std::nextafter(lower, std::numeric_limits<float>::infinity());
    const double step = upper - lower;
    for (double x : {0.25, 0.5 - 0x1p-20, 0.5, 0.5 + 0x1p-20, 0.75})
      for (double sign : {1.0, -1.0}) {
        const double value = lower + step * x;
        const auto rounded = [&](Rounding rounding) {
          return sign * round(f32, sign * value, {.rounding = rounding, .randomBits = 0x80000000});
        };
        // The machine's conversion rounds to nearest even.
        EXPECT_EQ(rounded(Rounding::TiesToEven), static_cast<float>(value));
        EXPECT_EQ(rounded(Rounding::TiesToAway), x < 0.5 ? lower : upper);
        EXPECT_EQ(rounded(Rounding::TiesTowardZero), x > 0.5 ? upper : lower);
        EXPECT_EQ(rounded(Rounding::TowardZero), lower);
        EXPECT_EQ(rounded(Rounding::TowardPositive), sign > 0 ? upper : lower);
        EXPECT_EQ(rounded(Rounding::TowardNegative), sign > 0 ? lower : upper);
        EXPECT_EQ(rounded(Rounding::Stochastic), x > 0.5 ? upper : lower);
      }
  }
  EXPECT_EQ(round(f32, 0x1.FFFFFEFp127), std::numeric_limits<float>::max());
  EXPECT_EQ(round(f32, 0x1.FFFFFFp127), kInf);
}

TEST(RoundingTest, F64IsItself) {
  for (double value : {1.0, -0.1, 5e-324, -0x1.8p-1040, 0x1.FFFFFFFFFFFFFp1023})
    for (Rounding rounding : kRoundings)
      EXPECT_EQ(round(format::element("f64"), value, {.rounding = rounding}), value);
}

} // namespace
} // namespace octavo::numerics
