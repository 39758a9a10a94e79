// The loops that convert wide values to narrow codes. A set's Parts.h defines FastFloat (ties to
// even), narrow, anyNan and finishStreaming.
#pragma once

#include "octavo/Kernels/generic/Rounding.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Rounds kStep values by the integer path.
template <Rounding kRounding>
OCTAVO_INLINE U8 convertExactly(const ConvertPlan& plan, const U32 (&x)[4],
                                const std::uint32_t* random) {
  U32 codes[4];
#pragma clang loop unroll(disable) // one vector at a time fits the registers, four do not
  for (int i = 0; i < 4; ++i)
    codes[i] = roundToCodes<kRounding>(
        plan, x[i], I32{},
        kRounding == Rounding::Stochastic ? load<U32>(random + i * kLanes) : U32{});
  return narrow(codes);
}

/// Rounds to two's complement, ties to even: the adder rounds the sum with 1.5 * 2^23 to an
/// integer, whose low byte is the code.
struct FastInteger {
  F32 factor, highest, lowest;

  explicit OCTAVO_INLINE FastInteger(const ConvertPlan& plan) {
    const std::uint32_t exponent = 254 + plan.trailing - plan.emin;
    factor = floats(splat(exponent << 23));
    highest = splat(static_cast<float>(plan.finiteLimit[0]));
    lowest = splat(-static_cast<float>(plan.finiteLimit[1]));
  }
  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const U32 (&)[4]) const {
    U32 codes[4];
    for (int i = 0; i < 4; ++i) {
      F32 y = floats(x[i]) * factor;
      y = y < highest ? y : highest;
      y = y > lowest ? y : lowest;
      codes[i] = bits(y + splat(12582912.0f));
    }
    return narrow(codes);
  }
};

/// Rounds to nearest, ties to even, by `Encoder`; a step with a NaN takes the integer path.
template <typename Encoder> struct FastStep {
  Encoder encoder;
  const ConvertPlan& plan;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const std::uint32_t*) const {
    if (__builtin_expect(anyNan(x), 0))
      return convertNan(plan, x[0], x[1], x[2], x[3]);
    return encoder(x, x);
  }
  /// By value: an array whose address is taken would be stored in every step.
  static __attribute__((noinline)) U8 convertNan(const ConvertPlan& plan, U32 a, U32 b, U32 c,
                                                 U32 d) {
    return convertExactly<Rounding::TiesToEven>(plan, {a, b, c, d}, nullptr);
  }
};

template <Rounding kRounding> struct ExactStep {
  const ConvertPlan& plan;

  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const std::uint32_t* random) const {
    return convertExactly<kRounding>(plan, x, random);
  }
};

/// Converts fewer than kStep values, padded with zeros to a whole step.
template <typename Source, typename Step>
static void convertPartialStep(const Step& step, const typename Source::Element* values,
                               std::uint8_t* codes, std::size_t n, const std::uint32_t* random) {
  typename Source::Element in[kStep] = {};
  std::uint32_t bitsIn[kStep] = {};
  std::uint8_t out[kStep];
  __builtin_memcpy(in, values, n * sizeof(*values));
  if (random)
    __builtin_memcpy(bitsIn, random, n * sizeof(*random));
  U32 x[4];
  for (int i = 0; i < 4; ++i)
    x[i] = Source::load(in + i * kLanes);
  store(out, step(x, bitsIn));
  __builtin_memcpy(codes, out, n);
}

template <typename Source, bool kStreaming, typename Step>
static void convertSteps(const Step& step, const typename Source::Element* values,
                         std::uint8_t* codes, std::size_t n, const std::uint32_t* random) {
  std::size_t i = 0;
  if constexpr (kStreaming) {
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(codes) % kStep;
    i = head < n ? head : n;
    convertPartialStep<Source>(step, values, codes, i, random);
  }
  for (; i + kStep <= n; i += kStep) {
    if constexpr (kStreaming)
      prefetchStep(values + i);
    U32 x[4];
    for (int j = 0; j < 4; ++j)
      x[j] = Source::load(values + i + j * kLanes);
    const U8 code = step(x, random ? random + i : nullptr);
    if constexpr (kStreaming)
      storeStreaming(codes + i, code);
    else
      store(codes + i, code);
  }
  if (i < n)
    convertPartialStep<Source>(step, values + i, codes + i, n - i, random ? random + i : nullptr);
  if constexpr (kStreaming)
    finishStreaming();
}

template <typename Source, typename Step>
static void convertBy(const Step& step, const void* values, std::uint8_t* codes, std::size_t n,
                      const std::uint32_t* random, Stores stores) {
  const auto* from = static_cast<const typename Source::Element*>(values);
  if (stores == Stores::Streaming)
    convertSteps<Source, true>(step, from, codes, n, random);
  else
    convertSteps<Source, false>(step, from, codes, n, random);
}

template <typename Source>
static void convert(const ConvertPlan& plan, const void* values, std::uint8_t* codes, std::size_t n,
                    const std::uint32_t* random, Stores stores) {
  switch (plan.rounding) {
  case Rounding::TiesToEven:
    if (plan.kind == ConvertPlan::Kind::Float)
      return convertBy<Source>(FastStep<FastFloat>{FastFloat(plan), plan}, values, codes, n,
                               nullptr, stores);
    if (plan.kind == ConvertPlan::Kind::Integer)
      return convertBy<Source>(FastStep<FastInteger>{FastInteger(plan), plan}, values, codes, n,
                               nullptr, stores);
    return convertBy<Source>(ExactStep<Rounding::TiesToEven>{plan}, values, codes, n, nullptr,
                             stores);
  case Rounding::TiesToAway:
    return convertBy<Source>(ExactStep<Rounding::TiesToAway>{plan}, values, codes, n, nullptr,
                             stores);
  case Rounding::TiesTowardZero:
    return convertBy<Source>(ExactStep<Rounding::TiesTowardZero>{plan}, values, codes, n, nullptr,
                             stores);
  case Rounding::TowardZero:
    return convertBy<Source>(ExactStep<Rounding::TowardZero>{plan}, values, codes, n, nullptr,
                             stores);
  case Rounding::TowardPositive:
    return convertBy<Source>(ExactStep<Rounding::TowardPositive>{plan}, values, codes, n, nullptr,
                             stores);
  case Rounding::TowardNegative:
    return convertBy<Source>(ExactStep<Rounding::TowardNegative>{plan}, values, codes, n, nullptr,
                             stores);
  case Rounding::Stochastic:
    return convertBy<Source>(ExactStep<Rounding::Stochastic>{plan}, values, codes, n, random,
                             stores);
  }
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
