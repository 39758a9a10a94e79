// All rounding modes for all narrow formats, in integer arithmetic on the bits of f32, independent
// of the hardware's rounding mode. The fast path for ties to even is each set's FastFloat.
#pragma once

#include "octavo/Kernels/ElementPlans.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

inline constexpr std::uint32_t kAbs = 0x7FFFFFFF;
inline constexpr std::uint32_t kInfinity = 0x7F800000;
inline constexpr std::uint32_t kImplicit = 0x00800000;

/// The lost fraction f of a magnitude q + f, in units of 2^-32 and rounded up, decides alone: every
/// rounding goes up where `fraction > threshold`. Rounding the fraction up is exact for Stochastic
/// (r < f * 2^32 for an integer r) and changes no other answer: a fraction that does not fit 32
/// bits is below 2^-8, far from the ties, and not 0.
template <Rounding kRounding>
OCTAVO_INLINE U32 roundsUp(U32 fraction, U32 odd, U32 negative, U32 random) {
  switch (kRounding) {
  case Rounding::TiesToEven:
    return above(fraction, 0x80000000u - odd);
  case Rounding::TiesToAway:
    return above(fraction, splat(0x7FFFFFFFu));
  case Rounding::TiesTowardZero:
    return above(fraction, splat(0x80000000u));
  case Rounding::TowardZero:
    return U32{};
  case Rounding::TowardPositive:
    return above(fraction, negative);
  case Rounding::TowardNegative:
    return above(fraction, ~negative);
  case Rounding::Stochastic:
    return above(fraction, random);
  }
  return U32{};
}

/// The magnitude that |x| * 2^-exponent rounds to, without a limit; `a` holds the bits of |x|.
template <Rounding kRounding>
OCTAVO_INLINE U32 roundMagnitude(const ConvertPlan& plan, U32 a, I32 exponent, U32 negative,
                                 U32 random) {
  const auto m = static_cast<std::int32_t>(plan.trailing);
  // A subnormal of f32 may be none of the quotient: it gets its implicit bit. 0 stays 0, so far
  // down that no exponent brings it up to emin.
  const U32 subnormal = above(splat(kImplicit), a);
  const U32 lifted = select(subnormal, bits(floats(a) * splat(0x1p64f)), a);
  const U32 significand =
      (lifted & (kImplicit - 1)) | (above(lifted, splat(kImplicit - 1)) & kImplicit);
  const I32 biased = (I32)((lifted >> 23) - (subnormal & 64)) - exponent;
  const I32 place = __builtin_elementwise_max(biased, I32{} + static_cast<std::int32_t>(plan.emin));
  // From 33 + m places on, the fraction is at most 2^-32: one unit, if it is not 0.
  const I32 below = __builtin_elementwise_min(place - biased, I32{} + (33 + m));
  const U32 whole = significand >> (U32)__builtin_elementwise_min(below + (23 - m), I32{} + 31);
  const I32 left = (9 + m) - below;
  const U32 right = (U32)__builtin_elementwise_max(-left, I32{});
  const U32 fraction = ((significand + ((splat(1u) << right) - 1)) >> right)
                       << (U32)__builtin_elementwise_max(left, I32{});
  const U32 up = roundsUp<kRounding>(fraction, whole & 1, negative, random);
  const U32 field = (U32)(place - static_cast<std::int32_t>(plan.emin)) << plan.trailing;
  return field + whole - up;
}

/// E8M0: the code that |x| rounds to, without a limit. f32's subnormal 2^-127 is the code 0. Ties
/// to even is up on its tie, and everywhere above 2^-127 below 2^-126 (numerics::round says why).
template <Rounding kRounding> OCTAVO_INLINE U32 roundPowerOfTwo(U32 a, U32 random) {
  // In [2^-127, 2^-126) the bits are moved so that exponent field 0 has an implicit bit too.
  const U32 subnormal = above(splat(kImplicit), a);
  const U32 moved = above(a, splat(0x003FFFFFu)) & ((a << 1) - kImplicit);
  const U32 y = select(subnormal, moved, a);
  if constexpr (kRounding == Rounding::TiesToEven)
    return (y >> 23) - above(y << 9, ~subnormal & 0x7FFFFFFF);
  return (y >> 23) - roundsUp<kRounding>(y << 9, U32{}, U32{}, random);
}

/// The codes of x * 2^-exponent, in the low bytes. x holds bits of f32.
template <Rounding kRounding>
OCTAVO_INLINE U32 roundToCodes(const ConvertPlan& plan, U32 x, I32 exponent, U32 random) {
  const U32 a = x & kAbs;
  const U32 negative = signMask(x);
  const U32 isNan = above(a, splat(kInfinity));
  const U32 isInfinite = (U32)(a == splat(kInfinity));
  auto bySign = [&](const std::uint32_t (&pair)[2]) {
    return select(negative, splat(pair[1]), splat(pair[0]));
  };
  U32 code;
  if (plan.kind == ConvertPlan::Kind::Scale) {
    code = minimum(roundPowerOfTwo<kRounding>(a, random), splat(plan.finiteLimit[0]));
    code = select(isInfinite, splat(plan.infinite[0]), code);
    code = select(negative | (U32)(a == U32{}) | isNan, splat(plan.nan[0]), code);
    return code;
  }
  code = minimum(roundMagnitude<kRounding>(plan, a, exponent, negative, random),
                 bySign(plan.finiteLimit));
  code = select(isInfinite, bySign(plan.infinite), code);
  if (plan.kind == ConvertPlan::Kind::Integer) {
    code = (code ^ negative) - negative;
  } else {
    const U32 keepsSign = negative & ~((U32)(code == U32{}) & (0u - plan.unsignedZero));
    code |= keepsSign & plan.signBit;
  }
  return select(isNan, bySign(plan.nan), code);
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
