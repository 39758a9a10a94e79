// The scales of kLanes blocks at once, from the bits of their amaxes: numerics::scaleCode in
// vectors.
#pragma once

#include "octavo/Kernels/QuantizePlan.h"
#include "octavo/Kernels/generic/Rounding.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

using ScaleKind = QuantizePlan::Scale;

/// One scale a lane: its code, and what a value is multiplied by (PowerOfTwo) or divided by.
struct Scales {
  U32 code;
  F32 factor;
};

/// The factor of codes of E8M0: 2^-(code - 127), a subnormal for the largest.
OCTAVO_INLINE F32 inversePowerOfTwo(U32 code) {
  return floats(maximum((254 - code) << 23, splat(0x00400000u)));
}

/// A narrow float's positive code to f32. Without its implicit bit taken care of, exponent field 0
/// reads as A in [2^(emin-1), 2^emin) where 2A - 2^emin is meant; from 2^emin on A is meant, and is
/// the lesser of the two.
OCTAVO_INLINE F32 positiveNarrowValue(const ConvertPlan& format, U32 code) {
  const F32 a = floats((code << (23 - format.trailing)) + splat((format.emin - 1) << 23));
  const F32 b = a + a - floats(splat(format.emin << 23));
  return a < b ? a : b;
}

/// `amax` holds bits of finite values.
template <ScaleKind kScale> OCTAVO_INLINE Scales scalesOf(const QuantizePlan& plan, U32 amax) {
  if constexpr (kScale == ScaleKind::PowerOfTwo) {
    const U32 b = bits(floats(amax) * splat(plan.ratio));
    const U32 subnormal = above(splat(kImplicit), b);
    const U32 moved = above(b, splat(0x003FFFFFu)) & ((b << 1) - kImplicit);
    const U32 raised = (select(subnormal, moved, b) + plan.increment) >> 23;
    const U32 code =
        minimum(maximum(raised, splat(plan.emax)) - plan.emax, splat(plan.largestScale));
    return {code, inversePowerOfTwo(code)};
  } else {
    constexpr std::uint32_t kLargest = kInfinity - 1;
    const F32 ratio = floats(amax) / splat(plan.elementMax) / splat(plan.outer);
    const U32 isZero = (U32)(amax == U32{});
    const U32 bounded = minimum(bits(ratio), splat(kLargest));
    U32 code;
    F32 value;
    if constexpr (kScale == ScaleKind::Float32) {
      code = select(isZero, bits(splat(1.0f)), maximum(bounded, splat(1u)));
      value = floats(code);
    } else {
      code = roundToCodes<Rounding::TiesToEven>(plan.narrowScale, bounded, I32{}, U32{});
      code = select(isZero, splat(plan.one), maximum(code, splat(1u)));
      value = positiveNarrowValue(plan.narrowScale, code);
    }
    // At least the smallest f32: 0 / 0 would be no value of the tensor.
    return {code, floats(maximum(bits(value * splat(plan.outer)), splat(1u)))};
  }
}

template <ScaleKind kScale> OCTAVO_INLINE F32 scaled(F32 x, F32 factor) {
  return kScale == ScaleKind::PowerOfTwo ? x * factor : x / factor;
}

/// Codes of kLanes scales to memory.
template <ScaleKind kScale> OCTAVO_INLINE void storeScales(void* to, U32 code) {
  if constexpr (kScale == ScaleKind::Float32)
    store(to, code);
  else
    store(to, __builtin_convertvector(code, VectorOf<std::uint8_t, kLanes>));
}

/// kStep codes of x, any rounding, infinite inputs included: `y` holds x divided by the scale, or x
/// itself with the scale's exponent.
static __attribute__((noinline)) U8 quantizeExactly(const QuantizePlan& plan, const U32 (&x)[4],
                                                    const U32 (&y)[4], const I32 (&exponent)[4],
                                                    const std::uint32_t* random) {
  U32 codes[4];
  for (int i = 0; i < 4; ++i) {
    const ConvertPlan& element = plan.element;
    switch (element.rounding) {
    case Rounding::TiesToEven:
      codes[i] = roundToCodes<Rounding::TiesToEven>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::TiesToAway:
      codes[i] = roundToCodes<Rounding::TiesToAway>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::TowardZero:
      codes[i] = roundToCodes<Rounding::TowardZero>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::TowardPositive:
      codes[i] = roundToCodes<Rounding::TowardPositive>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::TowardNegative:
      codes[i] = roundToCodes<Rounding::TowardNegative>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::Stochastic:
      codes[i] = roundToCodes<Rounding::Stochastic>(element, y[i], exponent[i],
                                                    load<U32>(random + i * kLanes));
      break;
    }
    const U32 infinite = (U32)((x[i] & kAbs) == splat(kInfinity));
    const U32 saturated =
        select(signMask(x[i]), splat(plan.infiniteInput[1]), splat(plan.infiniteInput[0]));
    codes[i] = select(infinite, saturated, codes[i]);
  }
  return narrow(codes);
}

/// The step of a quantization's inner loop: kStep values with a factor and a scale code each.
template <ScaleKind kScale, typename Encoder> struct QuantizeStep {
  const QuantizePlan& plan;
  Encoder encoder;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const F32 (&factor)[4], const U32 (&)[4],
                              const std::uint32_t*) const {
    U32 y[4];
    for (int i = 0; i < 4; ++i)
      y[i] = bits(scaled<kScale>(floats(x[i]), factor[i]));
    return encoder(y);
  }
};

/// No fast encoder: any rounding, and any step that has an infinity.
struct NoEncoder {};
template <ScaleKind kScale> struct QuantizeStep<kScale, NoEncoder> {
  const QuantizePlan& plan;
  NoEncoder encoder;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const F32 (&factor)[4], const U32 (&code)[4],
                              const std::uint32_t* random) const {
    U32 y[4];
    I32 exponent[4];
    for (int i = 0; i < 4; ++i) {
      // An exact quotient may lie below f32's range, where a directed rounding must still see it.
      constexpr bool kPower = kScale == ScaleKind::PowerOfTwo;
      y[i] = kPower ? x[i] : bits(scaled<kScale>(floats(x[i]), factor[i]));
      exponent[i] = kPower ? (I32)code[i] - 127 : I32{};
    }
    return quantizeExactly(plan, x, y, exponent, random);
  }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
