// The epilogue of a product on one row of a block while it is in the cache. Every set runs the same
// operations without fusing them, so the bits are the same.
#pragma once

#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Activations go through f64: their value is within 2^-32 of the exact one before the one rounding
/// to f32, however far into a tail.
using F64 = VectorOf<double, kLanes>;
using U64 = VectorOf<std::uint64_t, kLanes>;

OCTAVO_INLINE F64 select(F64 a, F64 b, VectorOf<std::int64_t, kLanes> mask) {
  return (F64)(((U64)a & (U64)mask) | ((U64)b & ~(U64)mask));
}

/// e^y for y <= 0; y below -700 counts as -700. With y = n ln 2 + r, |r| <= 0.347, the relative
/// error of the Taylor polynomial of degree 9 is r^10 / 10! < 2^-37.
OCTAVO_INLINE F64 exponential(F64 y) {
  constexpr double kMagic = 0x1.8p52; // its sum with a small number is rounded to an integer
  constexpr double kLn2High = 0x1.62e42fefa2p-1, kLn2Low = 0x1.9ef35793c7673p-41;
  y = select(F64{} - 700.0, y, y < -700.0);
  const F64 shifted = y * 0x1.71547652b82fep+0 + kMagic;
  const F64 n = shifted - kMagic;
  const F64 r = (y - n * kLn2High) - n * kLn2Low;
  F64 sum = F64{} + 1.0 / 362880;
  for (double reciprocal :
       {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    sum = sum * r + reciprocal;
  // The low bits of `shifted` are n; n >= -1010, so that 2^n is normal.
  return sum * (F64)(((U64)shifted << 52) + (std::uint64_t{1023} << 52));
}

/// x / (1 + e^-v), where v has the sign of x. Computes e^-|v|, which is at most 1.
OCTAVO_INLINE F64 timesLogistic(F64 x, F64 v) {
  const VectorOf<std::int64_t, kLanes> negative = x < 0.0;
  const F64 power = exponential(select(v, F64{} - v, negative));
  return select(x * power, x, negative) / (1.0 + power);
}

/// e^(z^2) erfc(z) for 0 <= z <= 11, within 2^-33 of its value: t = 1 / (1 + 21/64 z) times a
/// polynomial of degree 11 in t, fitted for the least greatest relative error on that range.
/// Beyond, it only has to stay positive and below 1.
OCTAVO_INLINE F64 scaledErfc(F64 z) {
  const F64 t = 1.0 / (1.0 + 0.328125 * z);
  F64 sum = F64{} - 0.025595653792622894;
  for (double coefficient :
       {0.18158558780639256, -0.5153274812859017, 0.7398226706398686, -0.6452614411446916,
        0.48398052543418035, -0.09431021671169548, 0.1853807581137299, 0.14269547068559044,
        0.17692105790595702, 0.18497860964670523, 0.18513011281150354})
    sum = sum * t + coefficient;
  return sum * t;
}

template <Activation kActivation> OCTAVO_INLINE F32 activated(F32 value) {
  if constexpr (kActivation == Activation::None) {
    return value;
  } else if constexpr (kActivation == Activation::Relu) {
    return floats(bits(value) & ~(U32)(value < 0.0f));
  } else {
    F64 x = __builtin_convertvector(value, F64);
    x = select(F64{} - 700.0, x, x < -700.0); // every result from there down is -0
    F64 result;
    if constexpr (kActivation == Activation::Silu) {
      result = timesLogistic(x, x);
    } else if constexpr (kActivation == Activation::GeluTanh) {
      // (1 + tanh u) / 2 = 1 / (1 + e^-2u), 2u = sqrt(8 / pi) (x + 0.044715 x^3)
      result = timesLogistic(x, x * (1.5957691216057308 + 0.07135481627159805 * (x * x)));
    } else {
      const VectorOf<std::int64_t, kLanes> negative = x < 0.0;
      const F64 z = select(F64{} - x, x, negative) * 0.7071067811865476;
      // The smaller of Phi(x) and 1 - Phi(x), times x; at +Inf it is 0 and not Inf * 0.
      const F64 finite = select(F64{} + 700.0, x, x > 700.0);
      const F64 tail = finite * (0.5 * scaledErfc(z) * exponential(-0.5 * (finite * finite)));
      result = select(tail, x - tail, negative);
    }
    return __builtin_convertvector(result, F32);
  }
}

template <Activation kActivation> struct EpilogueStep {
  const EpilogueRow& row;
  F32 factor, divisor;

  explicit OCTAVO_INLINE EpilogueStep(const EpilogueRow& row)
      : row(row), factor(splat(row.factor)), divisor(splat(row.divisor)) {}

  /// The values of kLanes columns, before the division.
  OCTAVO_INLINE F32 operator()(F32 sum, const float* addend, const float* bias,
                               const float* residual) const {
    F32 value = sum * factor;
    if (addend)
      value += load<F32>(addend);
    if (bias)
      value += load<F32>(bias);
    value = activated<kActivation>(value);
    if (residual)
      value += load<F32>(residual);
    return value;
  }
};

template <Activation kActivation> std::uint32_t finishRow(const EpilogueRow& row) {
  const EpilogueStep<kActivation> step(row);
  U32 greatest{};
  auto from = [](const float* values, std::int64_t n) { return values ? values + n : nullptr; };
  std::int64_t n = 0;
  for (; n + kLanes <= row.columns; n += kLanes) {
    const F32 value = step(load<F32>(row.sums + n), from(row.addend, n), from(row.bias, n),
                           from(row.residual, n));
    greatest = maximum(greatest, bits(value) & 0x7FFFFFFF);
    store(row.values + n, row.divides ? value / step.divisor : value);
  }
  if (n < row.columns) {
    const auto rest = static_cast<std::size_t>(row.columns - n) * sizeof(float);
    float sums[kLanes] = {}, addend[kLanes] = {}, bias[kLanes] = {}, residual[kLanes] = {};
    __builtin_memcpy(sums, row.sums + n, rest);
    auto copy = [&](float* to, const float* values) {
      if (values)
        __builtin_memcpy(to, values + n, rest);
      return values ? to : nullptr;
    };
    const F32 value = step(load<F32>(sums), copy(addend, row.addend), copy(bias, row.bias),
                           copy(residual, row.residual));
    float values[kLanes];
    std::uint32_t magnitudes[kLanes];
    store(magnitudes, bits(value) & 0x7FFFFFFF);
    __builtin_memset(magnitudes + (row.columns - n), 0, sizeof magnitudes - rest);
    greatest = maximum(greatest, load<U32>(magnitudes));
    store(values, row.divides ? value / step.divisor : value);
    __builtin_memcpy(row.values + n, values, rest);
  }
  return __builtin_reduce_max(greatest);
}

/// Ties to even; NaN becomes the quiet NaN of its sign.
OCTAVO_INLINE U32 quieted(U32 x) {
  return select(above(x & 0x7FFFFFFF, splat(0x7F800000u)), (x & 0x80000000) | 0x7FC00000, x);
}
struct ToBf16 {
  static OCTAVO_INLINE VectorOf<std::uint16_t, kLanes> round(F32 value) {
    const U32 x = quieted(bits(value));
    return __builtin_convertvector((x + 0x7FFF + ((x >> 16) & 1)) >> 16,
                                   VectorOf<std::uint16_t, kLanes>);
  }
};
struct ToF16 {
  static OCTAVO_INLINE VectorOf<std::uint16_t, kLanes> round(F32 value) {
    return (VectorOf<std::uint16_t, kLanes>)__builtin_convertvector(floats(quieted(bits(value))),
                                                                    VectorOf<_Float16, kLanes>);
  }
};

template <typename Rounding>
void roundRow(const float* values, std::int64_t columns, std::uint16_t* to) {
  std::int64_t n = 0;
  for (; n + kLanes <= columns; n += kLanes)
    store(to + n, Rounding::round(load<F32>(values + n)));
  if (n < columns) {
    float rest[kLanes] = {};
    std::uint16_t halves[kLanes];
    __builtin_memcpy(rest, values + n, static_cast<std::size_t>(columns - n) * sizeof(float));
    store(halves, Rounding::round(load<F32>(rest)));
    __builtin_memcpy(to + n, halves, static_cast<std::size_t>(columns - n) * sizeof(*to));
  }
}

inline bool areWithin(const float* values, std::int64_t count, float least) {
  const F32 bound = splat(least);
  U32 beyond{};
  auto look = [&](const float* at) __attribute__((always_inline)) {
    const F32 magnitude = floats(load<U32>(at) & 0x7FFFFFFF);
    beyond |= (U32)(magnitude < bound) | above(bits(magnitude), splat(0x7F7FFFFFu));
  };
  std::int64_t n = 0;
  for (; n + kLanes <= count; n += kLanes)
    look(values + n);
  if (n < count) {
    float rest[kLanes];
    store(rest, bound);
    __builtin_memcpy(rest, values + n, static_cast<std::size_t>(count - n) * sizeof(float));
    look(rest);
  }
  return __builtin_reduce_max(beyond) == 0;
}

constexpr EpilogueKernels epilogueKernels() {
  return {.areWithin = areWithin,
          .finishRow = {finishRow<Activation::None>, finishRow<Activation::Relu>,
                        finishRow<Activation::GeluErf>, finishRow<Activation::GeluTanh>,
                        finishRow<Activation::Silu>},
          .roundToBf16 = roundRow<ToBf16>,
          .roundToF16 = roundRow<ToF16>};
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
