// How blocks become scales and codes: the element's conversion, and the scale rule as arithmetic on
// the bits of a block's amax.
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
    Other,      ///< computed by numerics::blockScale, one by one
  };
  Scale scale;
  std::uint32_t scaleBytes; ///< of one scale in memory
  std::uint32_t nanScale;   ///< the code of a poisoned block's scale
  NonFinite nonFinite;
  numerics::Quotient quotient; ///< how values meet the factor of their block
  WideType quotientType; ///< that quotients by such a factor are rounded to; F32: they are not
  numerics::ZeroSign zeroSign;
  std::uint32_t droppedCode; ///< becomes 0: that of -0, where no element may be it; else 0
  bool isExact;              ///< the fast encoders do not have what is asked for

  /// Amaxes below count as this one; the code of a block of zeros, and the least code of others.
  float leastAmax;
  std::uint32_t zeroCode;
  std::uint32_t leastCode;
  /// Codes of blocks with NaN, and with Inf alone; kNoCode where there is no such code. PowerOfTwo
  /// only: others that have one are Other.
  std::uint32_t nanCode;
  std::uint32_t infiniteCode;

  /// PowerOfTwo: with y the bits of amax * ratio (or amax / elementMax), moved so that 2^-127 has
  /// exponent field 0, the code is ((y + increment) >> 23) - emax, limited to 0 and largestScale;
  /// or pastRange where the sum reaches f32's infinity.
  /// Where y lies among the liftedRange bits from liftedFrom on, the code is 1.
  float ratio;
  bool isRatioDivided;
  WideType ratioType; ///< that ratios are rounded to, here and below; F32: they are not
  std::uint32_t pastRange;
  std::uint32_t increment;
  std::uint32_t liftedFrom;
  std::uint32_t liftedRange;
  std::uint32_t emax;
  std::uint32_t largestScale;

  /// The others: amax / elementMax / outer or another ratio, rounded to the scale format (Narrow:
  /// by narrowScale).
  float elementMax;
  float outer;
  numerics::BlockRatio ratioForm;
  numerics::QuotientForm quotientForm;
  float jointDivisor;          ///< elementMax * outer
  float outerInverse;          ///< g of numerics::OuterScale
  float inverseRatio;          ///< g * (1 / elementMax)
  float reciprocalInverse;     ///< 1 / g
  float reciprocalOuter;       ///< 1 / outer
  std::uint32_t underflowCode; ///< of a scale that rounds to 0
  ConvertPlan narrowScale;
};

inline constexpr std::uint32_t kNoCode = ~0u;

/// `outer` and its inverse are 1 where the type has no outer scale.
BlockPlan blockPlan(const ScaledType& type, const QuantizeOptions& options, float outer,
                    float outerInverse = 1.0f);

} // namespace octavo::kernels
