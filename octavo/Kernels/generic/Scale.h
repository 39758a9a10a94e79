// The scales of kLanes blocks at a time, from the bits of their amaxes: numerics::blockScale in
// vectors.
#pragma once

#include "octavo/Kernels/BlockPlan.h"
#include "octavo/Kernels/generic/FastFloat.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

using ScaleKind = BlockPlan::Scale;

/// The factor that values are multiplied by (PowerOfTwo) or divided by. For division also the
/// divisor's reciprocal, rounded to nearest, and the reciprocal's rounding error, rounded.
struct Factor {
  F32 value, reciprocal, rest;
};

/// The factors of kCount blocks, in memory.
template <ScaleKind kScale, std::size_t kCount> struct Factors {
  static constexpr bool kAreDivisors = kScale != ScaleKind::PowerOfTwo;
  alignas(64) float value[kCount];
  alignas(64) float reciprocal[kAreDivisors ? kCount : 1];
  alignas(64) float rest[kAreDivisors ? kCount : 1];

  OCTAVO_INLINE void put(std::size_t lane, const Factor& factor) {
    store(value + lane, factor.value);
    if constexpr (kAreDivisors) {
      store(reciprocal + lane, factor.reciprocal);
      store(rest + lane, factor.rest);
    }
  }
  /// Stores the first lane of `factor`.
  OCTAVO_INLINE void putOne(std::size_t lane, const Factor& factor) {
    value[lane] = factor.value[0];
    if constexpr (kAreDivisors) {
      reciprocal[lane] = factor.reciprocal[0];
      rest[lane] = factor.rest[0];
    }
  }
  /// Of kLanes blocks.
  OCTAVO_INLINE Factor lanes(std::size_t lane) const {
    if constexpr (kAreDivisors)
      return {load<F32>(value + lane), load<F32>(reciprocal + lane), load<F32>(rest + lane)};
    return {load<F32>(value + lane), F32{}, F32{}};
  }
  /// Of one block, in every lane.
  OCTAVO_INLINE Factor all(std::size_t block) const {
    if constexpr (kAreDivisors)
      return {splat(value[block]), splat(reciprocal[block]), splat(rest[block])};
    return {splat(value[block]), F32{}, F32{}};
  }
};

/// One scale per lane.
struct Scales {
  U32 code;
  Factor factor;
};

/// The factor of codes of E8M0: 2^-(code - 127), a subnormal for the largest.
OCTAVO_INLINE F32 inversePowerOfTwo(U32 code) {
  return floats(maximum((254 - code) << 23, splat(0x00400000u)));
}

/// A narrow float's positive code to f32. Without its implicit bit taken care of, exponent field 0
/// reads as A in [2^(emin-1), 2^emin) where 2A - 2^emin is meant; from 2^emin on A is meant, and is
/// the lesser of the two.
struct PositiveNarrowValue {
  std::uint32_t shift;
  U32 lowest;
  F32 emin;

  explicit OCTAVO_INLINE PositiveNarrowValue(const ConvertPlan& format)
      : shift(23 - format.trailing), lowest(splat((format.emin - 1) << 23)),
        emin(floats(splat(format.emin << 23))) {}
  OCTAVO_INLINE F32 operator()(U32 code) const {
    const F32 a = floats((code << shift) + lowest);
    const F32 b = a + a - emin;
    return a < b ? a : b;
  }
};

template <bool kFused = kHasMultiplyAdd> OCTAVO_INLINE Factor divisorFactor(F32 divisor) {
  if constexpr (kFused) {
    const F32 reciprocal = splat(1.0f) / divisor;
    const F32 remainder = multiplyAdd(-divisor, reciprocal, splat(1.0f));
    return {divisor, reciprocal, remainder * reciprocal};
  }
  return {divisor, F32{}, F32{}};
}

OCTAVO_INLINE F32 lesser(F32 a, float limit) { return a < splat(limit) ? a : splat(limit); }

inline constexpr float kLargestF32 = 0x1.fffffep127f;

/// Rounds results of f32 arithmetic to `type`.
OCTAVO_INLINE F32 roundedTo(WideType type, F32 x) {
  switch (type) {
  case WideType::F32:
    break;
  case WideType::Bf16: {
    const U32 b = bits(x);
    const U32 rounded = (b + 0x7FFF + ((b >> 16) & 1)) & 0xFFFF0000;
    return floats(select(above(b & kAbs, splat(kInfinity)), b, rounded));
  }
  case WideType::F16: {
    using Half = VectorOf<_Float16, kLanes>;
    return __builtin_convertvector(__builtin_convertvector(x, Half), F32);
  }
  }
  return x;
}

/// The ratio of numerics::BlockRatio for f32 and narrow scales.
OCTAVO_INLINE F32 scaleRatio(const BlockPlan& plan, F32 amax) {
  const auto rounded = [&](F32 ratio) { return roundedTo(plan.ratioType, ratio); };
  switch (plan.ratioForm) {
  case numerics::BlockRatio::Standard:
  case numerics::BlockRatio::Quotient:
    break;
  case numerics::BlockRatio::JointQuotient:
    return amax / splat(plan.jointDivisor);
  case numerics::BlockRatio::OuterFirst:
    return amax / splat(plan.outer) / splat(plan.elementMax);
  case numerics::BlockRatio::InverseLast:
    return rounded(amax / splat(plan.elementMax)) * splat(plan.outerInverse);
  case numerics::BlockRatio::InverseFirst:
    return lesser(amax * splat(plan.inverseRatio), kLargestF32);
  case numerics::BlockRatio::Inverted:
    return rounded(splat(1.0f) / rounded(lesser(splat(plan.elementMax) / amax, kLargestF32)));
  }
  return rounded(amax / splat(plan.elementMax)) / splat(plan.outer);
}

/// numerics::BlockScale::factor of blocks of those amaxes and values of scales.
OCTAVO_INLINE Factor scaleFactor(const BlockPlan& plan, F32 amax, F32 scale) {
  switch (plan.quotientForm) {
  case numerics::QuotientForm::Divided:
    break;
  case numerics::QuotientForm::DividedByQuotient:
    return divisorFactor(scale / splat(plan.outerInverse));
  case numerics::QuotientForm::Successive:
    return {scale, F32{}, F32{}};
  case numerics::QuotientForm::TimesInverse:
    return {lesser(splat(1.0f) / (scale * splat(plan.reciprocalInverse)), kLargestF32), F32{},
            F32{}};
  case numerics::QuotientForm::TimesQuotient:
    return {splat(plan.reciprocalOuter) / scale, F32{}, F32{}};
  case numerics::QuotientForm::TimesInverted: {
    const U32 isZero = (U32)(bits(amax) == U32{});
    const F32 inverted = lesser(splat(plan.elementMax) / amax, kLargestF32);
    return {floats(select(isZero, bits(splat(1.0f) / scale), bits(inverted))), F32{}, F32{}};
  }
  }
  // At least the smallest f32: 0 / 0 would be no value of the tensor.
  return divisorFactor(floats(maximum(bits(scale * splat(plan.outer)), splat(1u))));
}

/// All ones where dividedFast is not for the divisor: below 2^-64 or above 2^64, where the
/// reciprocal's rest may leave f32, and significands of all ones.
OCTAVO_INLINE U32 immoderate(F32 divisors) {
  constexpr std::uint32_t kLeast = (127 - 64) << 23, kRange = 128 << 23;
  const U32 allOnes = splat(kImplicit - 1);
  return above(bits(divisors) - kLeast, splat(kRange)) |
         (U32)((bits(divisors) & allOnes) == allOnes);
}

/// x / divisor, without a division: not always as rounded to nearest, but on the same side of every
/// tie between codes, and equal to those it is equal to, so that it gets the same code. Before its
/// one rounding it is off by less than 2^-23 ulps, so that an f32 next to a tie may be confused
/// with the tie only where the quotient X / D of two significands lies that close to the middle of
/// both: X * 2^k = M * D + d, for the middle M and |d| < 4. For every tie of at most 8 significant
/// bits, M and d leave one D, and QuantizeTest tries them all: one fails, the D of all ones. Below
/// 2^-20 the product with the rest may be inexact: every element format rounds what is below 2^-18
/// to 0.
template <typename Divisor> OCTAVO_INLINE F32 dividedFast(F32 x, const Divisor& divisor) {
  return multiplyAdd(x, divisor.reciprocal, x * divisor.rest);
}

/// `nearest`, the code of the rounded ratio, with the plan's underflow, least and zero codes
/// applied.
OCTAVO_INLINE U32 limitedScale(const BlockPlan& plan, U32 nearest, U32 amax) {
  const U32 bounded = select((U32)(nearest == U32{}), splat(plan.underflowCode),
                             maximum(nearest, splat(plan.leastCode)));
  return select((U32)(amax == U32{}), splat(plan.zeroCode), bounded);
}

/// The scales of blocks whose amaxes, all finite, have the bits `found`.
template <ScaleKind kScale> OCTAVO_INLINE Scales scalesOf(const BlockPlan& plan, U32 found) {
  const U32 amax = maximum(found, bits(splat(plan.leastAmax)));
  if constexpr (kScale == ScaleKind::PowerOfTwo) {
    const F32 ratio = plan.isRatioDivided ? floats(amax) / splat(plan.elementMax)
                                          : floats(amax) * splat(plan.ratio);
    const U32 b = bits(roundedTo(plan.ratioType, ratio));
    const U32 subnormal = above(splat(kImplicit), b);
    const U32 moved = above(b, splat(0x003FFFFFu)) & ((b << 1) - kImplicit);
    const U32 y = select(subnormal, moved, b);
    const U32 lifted = above(splat(plan.liftedRange), y - plan.liftedFrom);
    const U32 raised = maximum((y + plan.increment) >> 23, lifted & (plan.emax + 1));
    const U32 byRule =
        minimum(maximum(raised, splat(plan.emax)) - plan.emax, splat(plan.largestScale));
    const U32 limited = maximum(byRule, splat(plan.leastCode));
    const U32 inRange = select((U32)(raised == splat(255u)), splat(plan.pastRange), limited);
    const U32 code = select((U32)(amax == U32{}), splat(plan.zeroCode), inRange);
    return {code, {inversePowerOfTwo(code), F32{}, F32{}}};
  } else {
    const F32 ratio = scaleRatio(plan, floats(amax));
    U32 code;
    F32 value;
    if constexpr (kScale == ScaleKind::Float32) {
      constexpr std::uint32_t kLargest = kInfinity - 1;
      const U32 nearest = minimum(bits(ratio), splat(kLargest));
      code = limitedScale(plan, nearest, amax);
      value = floats(code);
    } else {
      code = limitedScale(plan, NearestMagnitude(plan.narrowScale)(ratio), amax);
      value = PositiveNarrowValue(plan.narrowScale)(code);
    }
    return {code, scaleFactor(plan, floats(amax), value)};
  }
}

/// scalesOf, with what the plan alone decides worked out before. Where isUsual, kUsual finds the
/// same scales sooner, and their quotients may be taken by dividedFast.
template <ScaleKind kScale> struct ScaleFinder {
  static constexpr bool kMayBeUsual = false;
  const BlockPlan& plan;

  explicit OCTAVO_INLINE ScaleFinder(const BlockPlan& plan, float = 1) : plan(plan) {}
  template <bool kUsual> OCTAVO_INLINE Scales find(U32 amax) const {
    return scalesOf<kScale>(plan, amax);
  }
  template <bool kUsual> OCTAVO_INLINE U32 unfit(const Scales& found) const {
    return kScale == ScaleKind::PowerOfTwo ? U32{} : immoderate(found.factor.value);
  }
};

/// Codes of narrow scales: positive ones.
inline constexpr std::uint32_t kNarrowScales = 128;

/// Narrow scales of at most three trailing bits have eight significands: the reciprocals of their
/// products with the outer scale are looked up and moved by the exponent, which is exact. The ratio
/// needs its rounding to a narrow format only: dividedFast. That is the quotient by elementMax as
/// rounded, too: the middle of two f32 times an odd number is an odd integer of more than 24 bits,
/// so that quotients by an odd k stay 1 / k of half an ulp away from it.
template <> struct ScaleFinder<ScaleKind::Narrow> {
  static constexpr bool kMayBeUsual = kHasLookup;
  const BlockPlan& plan;
  NearestMagnitude magnitude;
  PositiveNarrowValue valueOf;
  U32 leastAmax, leastCode, zeroCode;
  bool isUsual;
  Factor outer, elementMax;
  F32 reciprocals, rests; ///< by the upper three trailing bits

  /// isUsual of a plan.
  static OCTAVO_INLINE bool fits(const BlockPlan& plan) {
    constexpr float kLeastOuter = 0x1p-40f, kMostOuter = 0x1p40f;
    return kHasLookup &&
           (plan.ratioForm == numerics::BlockRatio::Standard ||
            plan.ratioForm == numerics::BlockRatio::Quotient) &&
           plan.ratioType == WideType::F32 &&
           plan.quotientForm == numerics::QuotientForm::Divided && plan.narrowScale.trailing <= 3 &&
           plan.underflowCode == plan.leastCode && plan.leastCode != 0 && plan.zeroCode != 0 &&
           plan.leastCode < plan.nanScale && plan.zeroCode < plan.nanScale &&
           plan.outer >= kLeastOuter && plan.outer <= kMostOuter &&
           !anySet(immoderate(productsWithOuter(plan)) | immoderate(splat(plan.outer)));
  }

  /// `multiple`, a power of two, of all reciprocals and rests that kUsual finds.
  explicit __attribute__((noinline)) ScaleFinder(const BlockPlan& plan, float multiple = 1)
      : plan(plan), magnitude(plan.narrowScale), valueOf(plan.narrowScale),
        leastAmax(bits(splat(plan.leastAmax))), leastCode(splat(plan.leastCode)),
        zeroCode(splat(plan.zeroCode)), isUsual(fits(plan)) {
    const Factor products = divisorFactor(productsWithOuter(plan));
    outer = divisorFactor(splat(plan.outer));
    elementMax = divisorFactor(splat(plan.elementMax));
    reciprocals = products.reciprocal * splat(multiple);
    rests = products.rest * splat(multiple);
  }
  template <bool kUsual> OCTAVO_INLINE Scales find(U32 amax) const {
    if constexpr (kUsual)
      return lookedUp(amax);
    else
      return scalesOf<ScaleKind::Narrow>(plan, amax);
  }
  template <bool kUsual> OCTAVO_INLINE U32 unfit(const Scales& found) const {
    return kUsual ? U32{} : immoderate(found.factor.value);
  }

  /// Where isUsual, the codes alone, and the reciprocals of all of them.
  template <bool kFused = kHasMultiplyAdd> OCTAVO_INLINE U32 codeOf(U32 found) const {
    const U32 amax = maximum(found, leastAmax);
    const F32 ratio = dividedFast(dividedFast(floats(amax), elementMax), outer);
    const U32 limited = maximum(magnitude(ratio), leastCode);
    return select((U32)(amax == U32{}), zeroCode, limited);
  }
  template <bool kFused = kHasMultiplyAdd>
  OCTAVO_INLINE void fill(float (&reciprocalOf)[kNarrowScales]) const {
    std::uint32_t first[kLanes];
    for (std::uint32_t i = 0; i < kLanes; ++i)
      first[i] = i;
    for (std::uint32_t code = 0; code < kNarrowScales; code += kLanes) {
      const F32 value = valueOf(load<U32>(first) + code);
      store(reciprocalOf + code, lookup(reciprocals, bits(value) >> 20) * inversePowerOf(value));
    }
  }

private:
  /// The outer scale times each significand.
  static OCTAVO_INLINE F32 productsWithOuter(const BlockPlan& plan) {
    const std::uint32_t eighths[16] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    const F32 significands = floats((load<U32>(eighths) << 20) + bits(splat(1.0f)));
    return significands * splat(plan.outer);
  }
  /// 2^-e of a value in [2^e, 2^(e + 1)).
  static OCTAVO_INLINE F32 inversePowerOf(F32 value) {
    return floats(splat(254u << 23) - (bits(value) & kInfinity));
  }
  template <bool kFused = kHasMultiplyAdd> OCTAVO_INLINE Scales lookedUp(U32 found) const {
    const U32 code = codeOf(found);
    const F32 value = valueOf(code);
    const F32 inversePower = inversePowerOf(value);
    const U32 eighth = bits(value) >> 20;
    return {code,
            {value * outer.value, lookup(reciprocals, eighth) * inversePower,
             lookup(rests, eighth) * inversePower}};
  }
};

/// How a value is divided by its scale.
enum class Quotient : std::uint8_t {
  Multiply, ///< by the factor of a power of two
  Divide,
  Fast,       ///< dividedFast
  Product,    ///< times a factor that is no power of two: rounded
  Successive, ///< divided by the outer scale, then by the factor; 0 / 0 is 0
};

template <Quotient kQuotient>
OCTAVO_INLINE F32 scaled(const BlockPlan& plan, F32 x, const Factor& factor) {
  if constexpr (kQuotient == Quotient::Multiply || kQuotient == Quotient::Product) {
    return x * factor.value;
  } else if constexpr (kQuotient == Quotient::Successive) {
    const F32 first = x / splat(plan.outer);
    const U32 isZero = (U32)((bits(first) & kAbs) == U32{});
    return floats(select(isZero, bits(first), bits(first / factor.value)));
  } else if constexpr (kQuotient == Quotient::Fast && kHasMultiplyAdd) {
    return dividedFast(x, factor);
  } else {
    return x / factor.value;
  }
}

/// Stores the codes of kLanes scales.
template <ScaleKind kScale> OCTAVO_INLINE void storeScales(void* to, U32 code) {
  if constexpr (kScale == ScaleKind::Float32)
    store(to, code);
  else
    store(to, __builtin_convertvector(code, VectorOf<std::uint8_t, kLanes>));
}

/// kStep codes of x, any rounding, infinite inputs included: `y` holds x divided by the scale, or x
/// itself with the scale's exponent.
static __attribute__((noinline)) U8 quantizeExactly(const BlockPlan& plan, const U32 (&x)[4],
                                                    const U32 (&y)[4], const I32 (&exponent)[4],
                                                    const std::uint32_t* random) {
  U32 codes[4];
#pragma clang loop unroll(disable) // one vector at a time fits the registers, four do not
  for (int i = 0; i < 4; ++i) {
    const ConvertPlan& element = plan.element;
    switch (element.rounding) {
    case Rounding::TiesToEven:
      codes[i] = roundToCodes<Rounding::TiesToEven>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::TiesToAway:
      codes[i] = roundToCodes<Rounding::TiesToAway>(element, y[i], exponent[i], U32{});
      break;
    case Rounding::TiesTowardZero:
      codes[i] = roundToCodes<Rounding::TiesTowardZero>(element, y[i], exponent[i], U32{});
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
    codes[i] &= (U32)(codes[i] != splat(plan.droppedCode));
  }
  return narrow(codes);
}

/// The step of a quantization's inner loop: kStep values, with a factor and a scale code each.
template <Quotient kQuotient, typename Encoder> struct QuantizeStep {
  static constexpr bool kIsExact = false;
  const BlockPlan& plan;
  Encoder encoder;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const Factor (&factor)[4], const U32 (&)[4],
                              const std::uint32_t*) const {
    U32 y[4];
    for (int i = 0; i < 4; ++i)
      y[i] = bits(scaled<kQuotient>(plan, floats(x[i]), factor[i]));
    return encoder(y, kQuotient == Quotient::Fast ? x : y); // dividedFast loses the sign of -0
  }
};

/// E2M1 of quotients by divisors that ScaleFinder finds sooner: the set's table, of quotients that
/// are multiplied by kMultiple before, and FastFloat where that is not enough.
template <typename ByTable> struct Tabled {
  ByTable table;
};
template <typename Encoder> inline constexpr float kMultiple = 1;
template <typename ByTable>
inline constexpr float kMultiple<Tabled<ByTable>> = float(1 << ByTable::kMultipleExponent);
template <typename Encoder> inline constexpr bool kIsTabled = kMultiple<Encoder> != 1;

/// Encoders of quotients that are rounded again: dividedFast's are not for them.
template <typename Encoder> struct RoundedQuotient;
template <typename Encoder> inline constexpr bool kIsOfRounded = false;
template <typename Encoder> inline constexpr bool kIsOfRounded<RoundedQuotient<Encoder>> = true;

/// A step with a tie, or next to one: its quotients by divisions.
struct TiedStep {
  PositiveNarrowValue valueOf;
  F32 outer;
  FastFloat encoder;

  explicit OCTAVO_INLINE TiedStep(const BlockPlan& plan)
      : valueOf(plan.narrowScale), outer(splat(plan.outer)), encoder(plan.element) {}
  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const U32 (&scale)[4]) const {
    U32 y[4];
    for (int i = 0; i < 4; ++i)
      y[i] = bits(floats(x[i]) / (valueOf(scale[i]) * outer));
    return encoder(y, y);
  }
};

/// The reciprocal alone puts the quotient off by less than 2^-22 of it, which may decide only next
/// to a tie.
template <typename ByTable> struct QuantizeStep<Quotient::Fast, Tabled<ByTable>> {
  static constexpr bool kIsExact = false;
  const BlockPlan& plan;
  Tabled<ByTable> encoder;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const Factor (&factor)[4], const U32 (&code)[4],
                              const std::uint32_t*) const {
    U8 codes;
    if (__builtin_expect(isOffTies(x, factor, codes), 1))
      return codes;
    return onTies(plan, x[0], x[1], x[2], x[3], code[0], code[1], code[2], code[3]);
  }
  /// Whether `codes` are the codes.
  OCTAVO_INLINE bool isOffTies(const U32 (&x)[4], const Factor (&factor)[4], U8& codes) const {
    F32 y[4];
    for (int i = 0; i < 4; ++i)
      y[i] = floats(x[i]) * factor[i].reciprocal;
    return encoder.table(y, x, codes);
  }
  /// By value: arrays whose addresses are taken would be stored in every step.
  static __attribute__((noinline)) U8 onTies(const BlockPlan& plan, U32 x0, U32 x1, U32 x2, U32 x3,
                                             U32 scale0, U32 scale1, U32 scale2, U32 scale3) {
    return TiedStep(plan)({x0, x1, x2, x3}, {scale0, scale1, scale2, scale3});
  }
};

/// No fast encoder: any rounding, and any step that has an infinity.
struct NoEncoder {};
template <Quotient kQuotient> struct QuantizeStep<kQuotient, NoEncoder> {
  static constexpr bool kIsExact = true;
  const BlockPlan& plan;
  NoEncoder encoder;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const Factor (&factor)[4], const U32 (&code)[4],
                              const std::uint32_t* random) const {
    U32 y[4];
    I32 exponent[4];
    for (int i = 0; i < 4; ++i) {
      // An exact quotient may lie below f32's range, where a directed rounding must still see it.
      constexpr bool kPower = kQuotient == Quotient::Multiply;
      constexpr Quotient kExact = kQuotient == Quotient::Fast ? Quotient::Divide : kQuotient;
      const F32 quotient = scaled<kExact>(plan, floats(x[i]), factor[i]);
      const U32 rounded = bits(kPower ? quotient : roundedTo(plan.quotientType, quotient));
      y[i] = kPower ? x[i] : rounded;
      exponent[i] = kPower ? (I32)code[i] - 127 : I32{};
      if (plan.zeroSign == numerics::ZeroSign::Positive ||
          plan.zeroSign == numerics::ZeroSign::Negative) {
        const U32 zero = splat(plan.zeroSign == numerics::ZeroSign::Negative ? ~kAbs : 0u);
        y[i] = select((U32)((rounded & kAbs) == U32{}), zero, y[i]);
      }
    }
    return quantizeExactly(plan, x, y, exponent, random);
  }
};

/// What a block that has infinities or NaN comes to, as numerics::blockScale treats it: the amax of
/// what counts, a mask of all ones unless the block's scale is NaN, and a code that no rule decides
/// (kNoCode where one does). `amax` is that of its finite values.
struct Judgement {
  std::uint32_t amax, kept, code;
};
OCTAVO_INLINE Judgement judge(const BlockPlan& plan, std::uint32_t amax, bool hasNan, bool hasInf) {
  if (hasNan && plan.nonFinite != NonFinite::SkipNan)
    return plan.nanCode == kNoCode ? Judgement{0, 0, kNoCode} : Judgement{0, ~0u, plan.nanCode};
  if (!hasInf)
    return {amax, ~0u, kNoCode};
  if (plan.infiniteCode != kNoCode)
    return {0, ~0u, plan.infiniteCode};
  return plan.nonFinite == NonFinite::Propagate ? Judgement{0, 0, kNoCode}
                                                : Judgement{kInfinity - 1, ~0u, kNoCode};
}

/// Scales found by the rule, or forced to codes that are not kNoCode: powers of two, if any.
template <ScaleKind kScale> OCTAVO_INLINE Scales forced(const Scales& found, U32 forcedCode) {
  if constexpr (kScale != ScaleKind::PowerOfTwo)
    return found;
  const U32 isFree = (U32)(forcedCode == splat(kNoCode));
  const U32 code = select(isFree, found.code, forcedCode);
  return {code, {inversePowerOfTwo(code), F32{}, F32{}}};
}

/// Calls `body` with the step that takes the plan's quotients. `mayBeFast`: all divisors are
/// moderate.
template <ScaleKind kScale, typename Encoder, typename Body>
OCTAVO_INLINE void withStep(const BlockPlan& plan, const Encoder& encoder, bool mayBeFast,
                            Body body) {
  if constexpr (kScale == ScaleKind::PowerOfTwo) {
    body(QuantizeStep<Quotient::Multiply, Encoder>{plan, encoder});
  } else if constexpr (kIsTabled<Encoder>) {
    body(QuantizeStep<Quotient::Fast, Encoder>{plan, encoder});
  } else {
    if (plan.quotient == numerics::Quotient::Multiplied)
      body(QuantizeStep<Quotient::Product, Encoder>{plan, encoder});
    else if (plan.quotient == numerics::Quotient::Successive)
      body(QuantizeStep<Quotient::Successive, Encoder>{plan, encoder});
    else if (kHasMultiplyAdd && mayBeFast && !kIsOfRounded<Encoder>)
      body(QuantizeStep<Quotient::Fast, Encoder>{plan, encoder});
    else
      body(QuantizeStep<Quotient::Divide, Encoder>{plan, encoder});
  }
}

/// Whether Tabled<E2M1ByTable> supports the plan's settings.
OCTAVO_INLINE bool hasTabledE2M1(const BlockPlan& plan) {
  return plan.element.rounding == Rounding::TiesToEven && !plan.isExact &&
         E2M1ByTable::fits(plan.element) && ScaleFinder<ScaleKind::Narrow>::fits(plan);
}

/// Whether PositiveZero<FastFloat> supports the plan's settings.
OCTAVO_INLINE bool hasPositiveZeros(const BlockPlan& plan) {
  return (plan.zeroSign == numerics::ZeroSign::Positive ||
          plan.zeroSign == numerics::ZeroSign::PositiveRounded) &&
         plan.quotientType == WideType::F32 && plan.element.rounding == Rounding::TiesToEven &&
         plan.element.kind == ConvertPlan::Kind::Float;
}

/// `Encoder` after -0 has become +0, and without the plan's droppedCode.
template <typename Encoder> struct PositiveZero {
  Encoder encoder;
  std::uint8_t dropped;

  OCTAVO_INLINE U8 operator()(const U32 (&y)[4], const U32 (&)[4]) const {
    U32 sums[4];
    for (int i = 0; i < 4; ++i)
      sums[i] = bits(floats(y[i]) + F32{}); // -0 + 0 is +0, and no other sum differs
    const U8 codes = encoder(sums, sums);
    return codes & (U8)(codes != dropped);
  }
};
OCTAVO_INLINE PositiveZero<FastFloat> positiveZeroEncoder(const BlockPlan& plan) {
  return {FastFloat(plan.element), static_cast<std::uint8_t>(plan.droppedCode)};
}

/// Whether RoundedQuotient<FastFloat> supports the plan's settings.
OCTAVO_INLINE bool hasRoundedQuotients(const BlockPlan& plan) {
  return plan.quotientType != WideType::F32 && plan.zeroSign == numerics::ZeroSign::Kept &&
         plan.element.rounding == Rounding::TiesToEven &&
         plan.element.kind == ConvertPlan::Kind::Float;
}

/// `Encoder` after quotients, which must be as rounded to f32, are rounded to the plan's type.
template <typename Encoder> struct RoundedQuotient {
  Encoder encoder;
  WideType type;

  OCTAVO_INLINE U8 operator()(const U32 (&y)[4], const U32 (&)[4]) const {
    U32 rounded[4];
    for (int i = 0; i < 4; ++i)
      rounded[i] = bits(roundedTo(type, floats(y[i])));
    return encoder(rounded, rounded);
  }
};
OCTAVO_INLINE RoundedQuotient<FastFloat> roundedQuotientEncoder(const BlockPlan& plan) {
  return {FastFloat(plan.element), plan.quotientType};
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
