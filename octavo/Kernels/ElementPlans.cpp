#include "octavo/Kernels/ElementPlans.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

namespace octavo::kernels {

using format::Specials;
using numerics::NanCode;
using numerics::Overflow;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Whether a magnitude of that sign is rounded toward zero whatever it is: then a finite value
/// never overflows (IEEE 754, 7.4).
static bool truncates(Rounding rounding, bool negative) {
  return rounding == Rounding::TowardZero ||
         rounding == (negative ? Rounding::TowardPositive : Rounding::TowardNegative);
}

static ConvertPlan makeConvertPlan(const ElementFormat& format, const Conversion& conversion) {
  ConvertPlan plan{};
  plan.kind = format.specials == Specials::Scale ? ConvertPlan::Kind::Scale
              : format.isInteger()               ? ConvertPlan::Kind::Integer
                                                 : ConvertPlan::Kind::Float;
  plan.rounding = conversion.rounding;
  plan.trailing = static_cast<std::uint32_t>(format.trailingSignificandBits);
  // An integer's spacing is one throughout, as it is below emin of a float: 2^(emin - trailing).
  plan.emin = static_cast<std::uint32_t>(
      127 + (format.isInteger() ? format.quantumExponent() + format.trailingSignificandBits
                                : format.emin()));
  plan.signBit = static_cast<std::uint32_t>(format.signMask());
  plan.unsignedZero = format.specials == Specials::UnsignedZero;

  for (int negative = 0; negative < 2; ++negative) {
    const double sign = negative ? -1 : 1;
    auto magnitude = [&](std::uint64_t code) {
      return static_cast<std::uint32_t>(format.isInteger() ? negative ? 0x100 - code : code
                                        : format.isSigned() && code != format.signMask()
                                            ? code & ~format.signMask()
                                            : code);
    };
    const std::uint64_t infiniteCode = numerics::convert(format, sign * kInf, conversion);
    const std::uint32_t infinite = magnitude(infiniteCode);
    const std::uint32_t largest = format.isInteger() && negative
                                      ? magnitude(*format.lowestCode())
                                      : static_cast<std::uint32_t>(format.maxCode());
    plan.infiniteCode[negative] = static_cast<std::uint32_t>(infiniteCode);
    plan.infinite[negative] = infinite;
    plan.finiteLimit[negative] =
        truncates(conversion.rounding, negative) && plan.kind != ConvertPlan::Kind::Scale
            ? largest
            : infinite;
    plan.nan[negative] = static_cast<std::uint32_t>(
        numerics::convert(format, std::copysign(kNan, sign), conversion));
  }
  if (plan.kind == ConvertPlan::Kind::Float) {
    const std::uint32_t limit = std::max(plan.finiteLimit[0], plan.finiteLimit[1]);
    const auto field = static_cast<int>(limit >> plan.trailing);
    const double significand =
        (limit & ((1u << plan.trailing) - 1)) + static_cast<double>(1u << plan.trailing);
    plan.limitValue = static_cast<float>(
        std::ldexp(significand, field - format.bias - format.trailingSignificandBits));
  } else {
    plan.limitValue = static_cast<float>(numerics::maxValue(format));
  }
  return plan;
}

/// The place of a format in the table, of which it need not be the row itself.
static std::size_t rowOf(const ElementFormat& format) {
  const auto& rows = format::kElementFormats;
  if (std::less_equal()(rows.data(), &format) && std::less()(&format, rows.data() + rows.size()))
    return static_cast<std::size_t>(&format - rows.data());
  return static_cast<std::size_t>(std::ranges::find(rows, format) - rows.begin());
}

const ConvertPlan& convertPlan(const ElementFormat& format, const Conversion& conversion) {
  assert(format.isNarrow());
  constexpr std::size_t kRoundings = static_cast<std::size_t>(Rounding::Stochastic) + 1;
  using Plans = std::array<std::array<std::array<ConvertPlan, 2>, 2>, kRoundings>;
  static const auto plans = [] {
    std::array<Plans, format::kElementFormats.size()> all{};
    for (std::size_t row = 0; row < all.size(); ++row)
      for (std::size_t rounding = 0; rounding < kRoundings; ++rounding)
        for (Overflow overflow : {Overflow::Saturate, Overflow::Special})
          for (NanCode nan : {NanCode::NegativeZero, NanCode::Maximum})
            if (format::kElementFormats[row].isNarrow())
              all[row][rounding][static_cast<std::size_t>(overflow)]
                 [static_cast<std::size_t>(nan)] = makeConvertPlan(
                     format::kElementFormats[row], {.rounding = static_cast<Rounding>(rounding),
                                                    .overflow = overflow,
                                                    .nan = nan});
    return all;
  }();
  return plans[rowOf(format)][static_cast<std::size_t>(conversion.rounding)]
              [static_cast<std::size_t>(conversion.overflow)]
              [static_cast<std::size_t>(conversion.nan)];
}

static DecodePlan makeDecodePlan(const ElementFormat& format) {
  DecodePlan plan{};
  for (std::uint32_t code = 0; code < 256; ++code) {
    double value = numerics::decode(format, code);
    const bool negativeNan = format.hasNegativeZero() && (code & format.signMask());
    if (std::isnan(value))
      value = std::copysign(value, negativeNan ? -1.0 : 1.0);
    const std::uint64_t bits = numerics::convert(format::element("bf16"), value);
    plan.low[code] = static_cast<std::uint8_t>(bits);
    plan.high[code] = static_cast<std::uint8_t>(bits >> 8);
  }
  bool signSymmetric = true;
  for (std::uint32_t code = 0; code < 128; ++code)
    signSymmetric &=
        plan.low[code] == plan.low[code + 128] && (plan.high[code] ^ 0x80) == plan.high[code + 128];
  plan.symmetry = format.width() < 8 ? DecodePlan::Symmetry::Periodic
                  : signSymmetric    ? DecodePlan::Symmetry::Sign
                                     : DecodePlan::Symmetry::None;
  plan.width = static_cast<std::uint32_t>(format.width());
  plan.route = DecodePlan::Route::Table;
  if (format.isInteger() && format.width() == 8) {
    plan.route = DecodePlan::Route::Integer;
    plan.factor = static_cast<float>(std::ldexp(1.0, format.quantumExponent()));
  }
  // f16 has 5 exponent and 10 trailing significand bits, and bias 15.
  if (format.hasSubnormals() && format.exponentBits <= 5) {
    plan.route = DecodePlan::Route::Half;
    plan.shift = static_cast<std::uint32_t>(10 - format.trailingSignificandBits);
    plan.factor = static_cast<float>(std::ldexp(1.0, 15 - format.bias));
    plan.magnitudeMask = static_cast<std::uint8_t>(format.signMask() - 1);
    plan.firstSpecial = 0x80; // beyond all magnitudes
    for (std::uint32_t magnitude = plan.magnitudeMask + 1u; magnitude-- > 0;) {
      const double half = numerics::decode(format::element("f16"), magnitude << plan.shift);
      if (numerics::decode(format, magnitude) != half * plan.factor)
        plan.firstSpecial = static_cast<std::uint8_t>(magnitude);
    }
    const bool unsignedZero = format.specials == Specials::UnsignedZero;
    plan.exception = static_cast<std::uint8_t>(unsignedZero ? format.signMask() : 0xFF);
    plan.hasSpecials = plan.firstSpecial != 0x80 || unsignedZero;
  }
  return plan;
}

const DecodePlan& decodePlan(const ElementFormat& format) {
  assert(format.isNarrow());
  static const auto plans = [] {
    std::array<DecodePlan, format::kElementFormats.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      if (format::kElementFormats[i].isNarrow())
        all[i] = makeDecodePlan(format::kElementFormats[i]);
    return all;
  }();
  return plans[rowOf(format)];
}

} // namespace octavo::kernels
