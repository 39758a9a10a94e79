#include "octavo/Kernels/QuantizePlan.h"

#include <cmath>
#include <limits>

namespace octavo::kernels {

using format::ScaleRule;
using format::Specials;
using numerics::NanCode;
using numerics::Overflow;

static QuantizePlan::Scale scaleKind(const ScaledType& type) {
  const ElementFormat& scale = *type.scale;
  if (scale.specials == Specials::Scale)
    return type.hasOuterScale ? QuantizePlan::Scale::Other : QuantizePlan::Scale::PowerOfTwo;
  if (scale == format::element("f32"))
    return type.hasOuterScale ? QuantizePlan::Scale::Other : QuantizePlan::Scale::Float32;
  return scale.isNarrow() && scale.hasSubnormals() ? QuantizePlan::Scale::Narrow
                                                   : QuantizePlan::Scale::Other;
}

/// What is added to the bits of amax before they lose their significand, so that it carries into
/// the exponent where the rule goes up.
static std::uint32_t ruleIncrement(ScaleRule rule, const ElementFormat& element) {
  const int trailing = element.isInteger() ? element.bias : element.trailingSignificandBits;
  switch (rule) {
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

QuantizePlan quantizePlan(const ScaledType& type, const QuantizeOptions& options, float outer) {
  const ElementFormat& element = *type.element;
  QuantizePlan plan{};
  Conversion conversion{
      .rounding = options.rounding, .overflow = options.overflow, .nan = NanCode::Maximum};
  plan.element = convertPlan(element, conversion);
  const bool symmetric = options.int8 == numerics::Int8Range::Symmetric;
  if (element.isInteger() && symmetric)
    plan.element.finiteLimit[1] = plan.element.infinite[1] = plan.element.finiteLimit[0];
  conversion.overflow = Overflow::Saturate;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (int negative = 0; negative < 2; ++negative)
    plan.infiniteInput[negative] =
        static_cast<std::uint32_t>(numerics::convert(element, negative ? -kInf : kInf, conversion));
  if (element.isInteger() && symmetric)
    ++plan.infiniteInput[1];

  plan.scale = scaleKind(type);
  plan.scaleBytes = static_cast<std::uint32_t>(type.scale->bytes());
  plan.nanScale = static_cast<std::uint32_t>(*type.scale->nanCode());
  plan.nonFinite = options.nonFinite;

  const double elementMax = numerics::maxValue(element);
  plan.ratio = 1.0f;
  plan.increment = ruleIncrement(options.rule, element);
  plan.emax = static_cast<std::uint32_t>(element.emax());
  plan.largestScale = static_cast<std::uint32_t>(type.scale->maxCode());
  if (options.rule == ScaleRule::RoundUp) {
    plan.ratio = static_cast<float>(1.0 / elementMax);
    plan.emax = 0;
  }

  plan.elementMax = static_cast<float>(elementMax);
  plan.outer = outer;
  if (plan.scale == QuantizePlan::Scale::Narrow) {
    plan.narrowScale = convertPlan(*type.scale, {.overflow = Overflow::Saturate});
    plan.one = static_cast<std::uint32_t>(numerics::encode(*type.scale, 1.0));
  }
  return plan;
}

} // namespace octavo::kernels
