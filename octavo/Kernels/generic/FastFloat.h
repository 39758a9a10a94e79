// Rounding to nearest, ties to even, by the hardware's adder: the generic form.
#pragma once

#include "octavo/Kernels/generic/Rounding.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// |x|, limited, plus 2^(23 - M) times its own power of two (at least 2^emin): the sum has the
/// format's spacing, so the addition rounds as the format does, subnormals included. Its bits are
/// the exponent and, below, the rounded significand; as a code's field they add up.
struct NearestMagnitude {
  F32 limit, emin, spread;
  U32 offset;
  std::uint32_t shift;

  explicit OCTAVO_INLINE NearestMagnitude(const ConvertPlan& plan) {
    limit = splat(plan.limitValue);
    emin = floats(splat(plan.emin << 23));
    shift = 23 - plan.trailing;
    spread = floats(splat((127 + shift) << 23));
    offset = splat((plan.emin + shift) << plan.trailing);
  }
  /// Code of a value >= 0, in the lane's low byte and nothing above.
  OCTAVO_INLINE U32 operator()(F32 x) const {
    const F32 a = x < limit ? x : limit;
    const F32 atLeast = a > emin ? a : emin;
    const F32 power = floats(bits(atLeast) & kInfinity);
    const U32 sum = bits(a + power * spread); // the product is exact
    return (sum >> shift) + (sum & 0xFF) - offset;
  }
};

struct FastFloatGeneric {
  NearestMagnitude magnitude;
  std::uint32_t signShift, signBit, unsignedZero;

  explicit OCTAVO_INLINE FastFloatGeneric(const ConvertPlan& plan) : magnitude(plan) {
    signBit = plan.signBit;
    signShift = static_cast<std::uint32_t>(__builtin_clz(plan.signBit));
    unsignedZero = plan.unsignedZero;
  }
  /// Codes of the magnitudes of `x` with the signs of `signsOf`.
  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const U32 (&signsOf)[4]) const {
    U32 codes[4];
    for (int i = 0; i < 4; ++i) {
      const U32 code = magnitude(floats(x[i] & kAbs));
      U32 sign = (signsOf[i] >> signShift) & signBit;
      if (unsignedZero)
        sign &= above(code, U32{});
      codes[i] = code | sign;
    }
    return narrow(codes);
  }
};

/// Whether codes are E2M1.
OCTAVO_INLINE bool isE2M1(const ConvertPlan& plan) {
  return plan.kind == ConvertPlan::Kind::Float && plan.trailing == 1 && plan.emin == 127 &&
         plan.finiteLimit[0] == 7 && plan.finiteLimit[1] == 7 && plan.signBit == 8;
}

/// The placeholder for E2M1ByTable in sets without it.
struct NoE2M1ByTable {
  static constexpr bool kExists = false;
  static OCTAVO_INLINE bool fits(const ConvertPlan&) { return false; }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
