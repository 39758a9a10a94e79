#include "octavo/Kernels/BlockPlan.h"

#include <algorithm>
#include <cmath>

namespace octavo::kernels {

using format::ScaleRule;
using format::Specials;
using numerics::BlockRatio;
using numerics::NanCode;
using numerics::Overflow;

static BlockPlan::Scale scaleKind(const ScaledType& type, const QuantizeOptions& options) {
  const ElementFormat& scale = *type.scale;
  if (scale.specials == Specials::Scale) {
    const bool isInverted =
        options.rule == ScaleRule::RoundUp && options.ratio == BlockRatio::Inverted;
    const bool isLog2 = options.exponent == numerics::ExponentForm::Log2;
    return type.hasOuterScale || isInverted || isLog2 ? BlockPlan::Scale::Other
                                                      : BlockPlan::Scale::PowerOfTwo;
  }
  const bool isPlain = options.scaleValues == numerics::ScaleValues::All && !options.corners.nan &&
                       !options.corners.infinite && !numerics::roundsScaleUp(scale, options);
  if (!isPlain)
    return BlockPlan::Scale::Other;
  if (scale == format::element("f32"))
    return type.hasOuterScale ? BlockPlan::Scale::Other : BlockPlan::Scale::Float32;
  return scale.isNarrow() && scale.hasSubnormals() ? BlockPlan::Scale::Narrow
                                                   : BlockPlan::Scale::Other;
}

/// What is added to the bits of amax before they lose their significand, so that it carries into
/// the exponent where the rule goes up.
static std::uint32_t ruleIncrement(const QuantizeOptions& options, const ElementFormat& element) {
  const int own = element.isInteger() ? element.bias : element.trailingSignificandBits;
  const int trailing = options.evenBits.value_or(static_cast<std::uint8_t>(own));
  switch (options.rule) {
  case ScaleRule::Floor:
    return 0;
  case ScaleRule::Ceil:
  case ScaleRule::RoundUp:
    return 0x7FFFFF; // any bit of the significand carries
  case ScaleRule::Even:
    return 1u << (22 - trailing); // 2 - 2^-(trailing + 1) and more carries
  case ScaleRule::Nearest:
    return 0x400000; // 1.5 and more
  }
  return 0;
}

static WideType inputType(const QuantizeOptions& options) {
  if (*options.input == format::element("bf16"))
    return WideType::Bf16;
  return *options.input == format::element("f16") ? WideType::F16 : WideType::F32;
}

/// The code of -0 of an element format; 0 where it has none.
static std::uint32_t negativeZero(const ElementFormat& element) {
  const std::uint64_t code = numerics::encode(element, -0.0);
  return static_cast<std::uint32_t>(code);
}

BlockPlan blockPlan(const ScaledType& type, const QuantizeOptions& options, float outer,
                    float outerInverse) {
  const ElementFormat& element = *type.element;
  BlockPlan plan{};
  Conversion conversion{
      .rounding = options.rounding, .overflow = options.overflow, .nan = NanCode::Maximum};
  plan.element = convertPlan(element, conversion);
  plan.element.nan[1] = plan.element.nan[0]; // S8: whatever the sign of the NaN
  const bool symmetric = options.int8 == numerics::Int8Range::Symmetric;
  if (element.isInteger() && symmetric)
    plan.element.finiteLimit[1] = plan.element.infinite[1] = plan.element.finiteLimit[0];
  conversion.overflow = Overflow::Saturate;
  std::ranges::copy(convertPlan(element, conversion).infiniteCode, plan.infiniteInput);
  if (element.isInteger() && symmetric)
    ++plan.infiniteInput[1];

  plan.scale = scaleKind(type, options);
  plan.scaleBytes = static_cast<std::uint32_t>(type.scale->bytes());
  plan.nanScale = static_cast<std::uint32_t>(*type.scale->nanCode());
  plan.nonFinite = options.nonFinite;
  plan.quotient = numerics::quotientOf(type, options);
  if (options.inInputType.quotient && plan.quotient != numerics::Quotient::Exact)
    plan.quotientType = inputType(options);
  plan.zeroSign = options.zeroSign;
  if (options.zeroSign == numerics::ZeroSign::PositiveRounded)
    plan.droppedCode = negativeZero(element);
  plan.isExact = options.zeroSign != numerics::ZeroSign::Kept || plan.quotientType != WideType::F32;

  const numerics::CornerCodes corners = numerics::cornerCodes(*type.scale, options);
  plan.leastAmax = options.leastAmax;
  plan.zeroCode = corners.zero;
  plan.leastCode = corners.least;
  plan.nanCode = options.nonFinite == NonFinite::SkipNan ? kNoCode : corners.nan.value_or(kNoCode);
  plan.infiniteCode = corners.infinite.value_or(kNoCode);

  const double elementMax = numerics::maxValue(element);
  plan.ratio = 1.0f;
  plan.increment = ruleIncrement(options, element);
  plan.emax = static_cast<std::uint32_t>(element.emax());
  plan.largestScale = static_cast<std::uint32_t>(type.scale->maxCode());
  const bool roundsUp = options.rule == ScaleRule::RoundUp;
  const bool isNearest = options.rule == ScaleRule::Nearest;
  const bool isDivided = options.ratio == BlockRatio::Quotient && (roundsUp || isNearest);
  if (roundsUp || isDivided) {
    plan.ratio = static_cast<float>(1.0 / elementMax);
    plan.isRatioDivided = isDivided;
    plan.emax = 0;
  }
  const bool hasRatio = plan.scale != BlockPlan::Scale::PowerOfTwo || roundsUp || isDivided;
  if (options.inInputType.ratio && hasRatio)
    plan.ratioType = inputType(options);
  if (isNearest) { // a conversion to e8m0fnu goes up everywhere between its two smallest values
    plan.liftedFrom = (plan.emax << 23) + 1;
    plan.liftedRange = 0x7FFFFF;
  }
  plan.pastRange = options.rule == ScaleRule::Even && corners.pastRange
                       ? *corners.pastRange
                       : std::max(std::min(255 - plan.emax, plan.largestScale), plan.leastCode);

  plan.elementMax = static_cast<float>(elementMax);
  plan.outer = outer;
  plan.ratioForm = options.ratio;
  plan.quotientForm = options.quotient;
  plan.jointDivisor = plan.elementMax * outer;
  plan.outerInverse = outerInverse;
  const float reciprocalMax = 1.0f / plan.elementMax;
  plan.inverseRatio = outerInverse * reciprocalMax;
  plan.reciprocalInverse = 1.0f / outerInverse;
  plan.reciprocalOuter = 1.0f / outer;
  plan.underflowCode = corners.underflow;
  if (plan.scale == BlockPlan::Scale::Narrow)
    plan.narrowScale = convertPlan(*type.scale, {.overflow = Overflow::Saturate});
  return plan;
}

} // namespace octavo::kernels
