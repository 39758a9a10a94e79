// The constants with which kernels compute a block's scale and codes: the conversion to elements,
// and the scale rule as arithmetic on the bits of the block's amax.
#pragma once

#include "octavo/Kernels/ElementPlans.h"
#include "octavo/Kernels/WideMemory.h"
#include "octavo/Numerics/Scaled.h"

namespace octavo::kernels {

using numerics::NonFinite;
using numerics::QuantizeOptions;
using numerics::ScaledType;

/// Constants of a quantization.
struct BlockPlan {
  ConvertPlan element;
  std::uint32_t infiniteInput[2]; ///< whole codes that infinite inputs saturate to, by sign

  enum class Scale : std::uint8_t {
    PowerOfTwo, ///< E8M0, no outer scale
    Float32,    ///< f32, no outer scale
    Narrow,     ///< a float of at most 8 bits
    Other,      ///< numerics::blockScale computes each scale
  };
  Scale scale;
  std::uint32_t scaleBytes; ///< of one scale in memory
  std::uint32_t nanScale;   ///< the code of a poisoned block's scale
  NonFinite nonFinite;
  numerics::Quotient quotient; ///< how values are divided by the scale of their block
  WideType quotientType;       ///< quotients are rounded to it; F32: no further rounding
  numerics::ZeroSign zeroSign;
  std::uint32_t droppedCode; ///< replaced by 0: the code of -0 if no element may have it; else 0
  bool isExact;              ///< true: the fast encoders do not support these settings

  float leastAmax;         ///< lower bound of a block's amax
  std::uint32_t zeroCode;  ///< scale code of a block of zeros
  std::uint32_t leastCode; ///< lower bound of the other scale codes
  /// Scale codes of blocks with a NaN, and of blocks with Inf and no NaN; kNoCode if not given.
  /// PowerOfTwo only: other scales with such a code are Scale::Other.
  std::uint32_t nanCode;
  std::uint32_t infiniteCode;

  /// PowerOfTwo: let y be the bits of amax * ratio (or amax / elementMax), adjusted so that 2^-127
  /// has exponent field 0. The code is ((y + increment) >> 23) - emax, clamped to 0 and
  /// largestScale, or pastRange if the sum reaches f32's infinity. For y in
  /// [liftedFrom, liftedFrom + liftedRange), the code is 1.
  float ratio;
  bool isRatioDivided; ///< y is of amax / elementMax
  WideType ratioType;  ///< ratios, here and below, are rounded to it; F32: no further rounding
  std::uint32_t pastRange;
  std::uint32_t increment;
  std::uint32_t liftedFrom;
  std::uint32_t liftedRange;
  std::uint32_t emax;
  std::uint32_t largestScale;

  /// Float32 and Narrow: amax / elementMax / outer, or another ratio by ratioForm, rounded to the
  /// scale format (Narrow: by narrowScale).
  float elementMax;
  float outer;
  numerics::BlockRatio ratioForm;
  numerics::QuotientForm quotientForm;
  float jointDivisor;          ///< elementMax * outer
  float outerInverse;          ///< g of numerics::OuterScale
  float inverseRatio;          ///< g * (1 / elementMax)
  float reciprocalInverse;     ///< 1 / g
  float reciprocalOuter;       ///< 1 / outer
  std::uint32_t underflowCode; ///< code of a scale that rounds to 0
  ConvertPlan narrowScale;
};

inline constexpr std::uint32_t kNoCode = ~0u;

/// The plan of a quantization. `outer` and its inverse are 1 if the type has no outer scale.
BlockPlan blockPlan(const ScaledType& type, const QuantizeOptions& options, float outer,
                    float outerInverse = 1.0f);

} // namespace octavo::kernels
