// Every code of both pairs against its decoded value; corners by hand (F6 to F11 of
// docs/semantics.md).

#include "octavo/Numerics/Fnuz.h"

#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/TestConstants.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace octavo::numerics {
namespace {

using format::element;

using Codes = std::vector<std::uint8_t>;

constexpr const ElementFormat& kE4m3Fnuz = element("e4m3fnuz");
constexpr const ElementFormat& kE5m2Fnuz = element("e5m2fnuz");

Codes allCodes() {
  Codes codes(256);
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  return codes;
}

TEST(FnuzTest, Twins) {
  EXPECT_EQ(fnuzTwin(kE4m3)->name, "e4m3fnuz");
  EXPECT_EQ(fnuzTwin(kE5m2)->name, "e5m2fnuz");
  EXPECT_EQ(fnuzTwin(kE4m3Fnuz)->name, "e4m3fn");
  EXPECT_EQ(fnuzTwin(kE5m2Fnuz)->name, "e5m2");
  for (const char* other : {"e4m3", "e3m4", "e4m3b11fnuz", "e2m1fn", "e8m0fnu", "int8", "f32"})
    EXPECT_EQ(fnuzTwin(*format::findElementFormat(other)), nullptr) << other;
}

TEST(FnuzTest, EveryFiniteCodeKeepsItsValueUnderTheDoubledScale) {
  for (const ElementFormat* ocp : {&kE4m3, &kE5m2}) {
    Codes codes = allCodes();
    const FnuzReport report = ocpToFnuz(*ocp, codes, {.special = SpecialCodes::Nan});
    EXPECT_FALSE(report.refused);
    EXPECT_EQ(report.scaleExponent, 1);
    EXPECT_EQ(report.negativeZeros, 1);
    EXPECT_EQ(report.specials, ocp == &kE4m3 ? 2 : 8);
    for (std::uint32_t code = 0; code < 256; ++code) {
      const double before = decode(*ocp, code);
      const double after = decode(*fnuzTwin(*ocp), codes[code]);
      if (std::isfinite(before))
        EXPECT_EQ(2 * after, before) << ocp->name << " " << code;
      else
        EXPECT_TRUE(std::isnan(after)) << ocp->name << " " << code;
    }
  }
}

TEST(FnuzTest, ToFnuzAndBackIsTheSameButForMinusZero) {
  for (const ElementFormat* ocp : {&kE4m3, &kE5m2}) {
    Codes codes;
    for (std::uint32_t code = 0; code < 256; ++code)
      if (std::isfinite(decode(*ocp, code)) && code != 0x80)
        codes.push_back(static_cast<std::uint8_t>(code));
    const Codes before = codes;
    EXPECT_FALSE(ocpToFnuz(*ocp, codes).refused);
    EXPECT_EQ(codes, before); // the very bytes
    const FnuzReport back = fnuzToOcp(*fnuzTwin(*ocp), codes);
    EXPECT_FALSE(back.refused);
    EXPECT_EQ(back.scaleExponent, -1);
    EXPECT_EQ(codes, before);
  }
  Codes zero{0x80};
  ocpToFnuz(kE4m3, zero);
  EXPECT_EQ(zero, (Codes{0x00}));
}

TEST(FnuzTest, NanIsRefusedUnlessSaidOtherwise) {
  Codes codes{0x10, 0x80, 0xFF, 0x7F};
  const Codes before = codes;
  EXPECT_EQ(ocpToFnuz(kE4m3, codes).refused, 2);
  EXPECT_EQ(codes, before); // unchanged, -0 too
  EXPECT_EQ(ocpToFnuz(kE4m3, codes, {.special = SpecialCodes::Saturate}).specials, 2);
  EXPECT_EQ(codes, (Codes{0x10, 0x00, 0xFE, 0x7E})); // +-224, not +-240

  Codes infinite{0x7C, 0xFC, 0x7F};
  EXPECT_EQ(ocpToFnuz(kE5m2, infinite).refused, 0);
  ocpToFnuz(kE5m2, infinite, {.special = SpecialCodes::Saturate});
  EXPECT_EQ(infinite, (Codes{0x7B, 0xFB, 0x7B}));

  Codes fnuz{0x01, 0x80};
  EXPECT_EQ(fnuzToOcp(kE4m3Fnuz, fnuz).refused, 1);
  EXPECT_EQ(fnuz, (Codes{0x01, 0x80}));
  EXPECT_EQ(fnuzToOcp(kE4m3Fnuz, fnuz, {.special = SpecialCodes::Nan}).specials, 1);
  EXPECT_EQ(fnuz, (Codes{0x01, 0x7F}));
  fnuz = {0x80};
  fnuzToOcp(kE5m2Fnuz, fnuz, {.special = SpecialCodes::Nan});
  EXPECT_EQ(fnuz, (Codes{0x7E}));
}

TEST(FnuzTest, CodesWithoutATwin) {
  const Codes before{0x7F, 0x38, 0xFF, 0x7E};
  Codes codes{0x7E, 0xFE, 0xFF}; // the largest with a twin, then one without
  EXPECT_EQ(fnuzToOcp(kE4m3Fnuz, codes).refused, 2);
  codes = before;
  EXPECT_EQ(fnuzToOcp(kE4m3Fnuz, codes).refused, 0);
  EXPECT_EQ(codes, before);
  FnuzReport report = fnuzToOcp(kE4m3Fnuz, codes, {.noTwin = NoTwin::Saturate});
  EXPECT_EQ(report.noTwins, 2);
  EXPECT_EQ(report.scaleExponent, -1);
  EXPECT_EQ(codes, (Codes{0x7E, 0x38, 0xFE, 0x7E})); // 448 under half the scale: 224

  codes = before;
  report = fnuzToOcp(kE4m3Fnuz, codes, {.noTwin = NoTwin::Requantize});
  EXPECT_EQ(report.scaleExponent, 0);
  EXPECT_EQ(report.inexact, 0);
  for (std::size_t i = 0; i < codes.size(); ++i)
    EXPECT_EQ(decode(kE4m3, codes[i]), decode(kE4m3Fnuz, before[i]));
}

TEST(FnuzTest, RequantizingRoundsWhatIsTooSmall) {
  // e4m3fnuz: 0x01 is 2^-10, half of e4m3fn's smallest: a tie, to 0. 0x03 is 1.5 * 2^-9: to 2^-8.
  Codes codes{0x7F, 0x01, 0x03, 0x80};
  const FnuzReport report =
      fnuzToOcp(kE4m3Fnuz, codes, {.special = SpecialCodes::Nan, .noTwin = NoTwin::Requantize});
  EXPECT_EQ(codes, (Codes{0x77, 0x00, 0x02, 0x7F}));
  EXPECT_EQ(report.inexact, 2);
}

TEST(FnuzTest, RequantizingSaturatesNan) {
  // 240 of e4m3fnuz is 0x77 of e4m3fn, 57344 of e5m2fnuz is 0x7B of e5m2; NaN has no sign.
  const FnuzOptions options{.special = SpecialCodes::Saturate, .noTwin = NoTwin::Requantize};
  Codes codes{0x7F, 0x80, 0xFF};
  EXPECT_EQ(fnuzToOcp(kE4m3Fnuz, codes, options).specials, 1);
  EXPECT_EQ(codes, (Codes{0x77, 0x7E, 0xF7}));
  codes = {0x7F, 0x80, 0xFF};
  EXPECT_EQ(fnuzToOcp(kE5m2Fnuz, codes, options).specials, 1);
  EXPECT_EQ(codes, (Codes{0x7B, 0x7B, 0xFB}));
}

TEST(FnuzTest, CapAt224) {
  Codes codes{0x7F, 0xFF, 0x7E, 0x80, 0x00};
  EXPECT_EQ(capFnuz(kE4m3Fnuz, codes), 2);
  EXPECT_EQ(codes, (Codes{0x7E, 0xFE, 0x7E, 0x80, 0x00}));
  EXPECT_EQ(decode(kE4m3Fnuz, codes[0]), 224);
}

TEST(FnuzTest, ManyCodes) {
  // More than a byte's count of each kind.
  Codes codes(3000, 0x80);
  std::fill(codes.begin() + 1000, codes.begin() + 2000, std::uint8_t{0xFF});
  const FnuzReport report = ocpToFnuz(kE4m3, codes, {.special = SpecialCodes::Nan});
  EXPECT_EQ(report.negativeZeros, 2000);
  EXPECT_EQ(report.specials, 1000);
  EXPECT_EQ(ocpToFnuz(kE4m3, {}).negativeZeros, 0);
}

TEST(ScaleShiftTest, Float32) {
  std::vector<float> scales{0.5f, 0, 3e38f, -1};
  EXPECT_EQ(shiftScales(scales, 1).refused, 2);
  EXPECT_EQ(scales[0], 0.5f);
  const ScaleShiftReport report = shiftScales(scales, 1, ScaleRange::Saturate);
  EXPECT_EQ(report.outOfRange, 1);
  EXPECT_EQ(scales, (std::vector<float>{1, 0, std::numeric_limits<float>::max(), -2}));

  std::vector<float> tiny{0x1p-149f, 0x3p-149f, 0x1p-148f};
  EXPECT_EQ(shiftScales(tiny, -1).refused, 0);
  EXPECT_EQ(shiftScales(tiny, -1, ScaleRange::Saturate).outOfRange, 2);
  EXPECT_EQ(tiny, (std::vector<float>{0x1p-149f, 0x1p-148f, 0x1p-149f})); // 1.5 units tie to 2

  std::vector<float> special{std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(shiftScales(special, 1).refused);
  EXPECT_TRUE(std::isinf(special[0]) && std::isnan(special[1]));
}

TEST(ScaleShiftTest, OtherFormats) {
  std::vector<std::uint8_t> powers{0, 126, 254, 255};
  EXPECT_EQ(shiftScales(element("e8m0fnu"), powers, 1).refused, 2);
  EXPECT_EQ(shiftScales(element("e8m0fnu"), powers, 1, ScaleRange::Saturate).outOfRange, 1);
  EXPECT_EQ(powers, (std::vector<std::uint8_t>{1, 127, 254, 255}));
  EXPECT_EQ(shiftScales(element("e8m0fnu"), powers, -1, ScaleRange::Saturate).outOfRange, 0);
  EXPECT_EQ(powers, (std::vector<std::uint8_t>{0, 126, 253, 255}));
  std::vector<std::uint16_t> halves{0x3F80}; // bf16 1
  EXPECT_FALSE(shiftScales(element("bf16"), halves, 1).refused);
  EXPECT_EQ(halves[0], 0x4000);
}

} // namespace
} // namespace octavo::numerics
