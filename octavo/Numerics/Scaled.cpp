#include "octavo/Numerics/Scaled.h"

#include "octavo/Numerics/Saturation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace octavo::numerics {

using format::Specials;

static constexpr float kLargest = std::numeric_limits<float>::max();

static bool isPowerOfTwoScale(const ElementFormat& scale) {
  return scale.specials == Specials::Scale;
}

/// k and m of amax = m * 2^k, 1 <= m < 2. `amax` > 0.
static std::pair<int, double> exponentAndSignificand(double amax) {
  int exponent;
  const double significand = std::frexp(amax, &exponent);
  return {exponent - 1, 2 * significand};
}

/// Rounds a result of f32 arithmetic to the input's type, if the step is computed in that type.
static float inInputType(const QuantizeOptions& options, bool isComputedInIt, float value) {
  return isComputedInIt ? static_cast<float>(round(*options.input, value, {})) : value;
}

/// amax over the element's largest value, which RoundUp takes the exponent of. `amax` > 0.
static float roundUpRatio(const ElementFormat& element, const QuantizeOptions& options,
                          float amax) {
  // The owners multiply by the reciprocal in f32. In every element format its product with the
  // largest value rounds to exactly 1, so a block at its maximum is not bumped.
  const auto max = static_cast<float>(maxValue(element));
  const auto reciprocal = static_cast<float>(1.0 / maxValue(element));
  return inInputType(options, options.inInputType.ratio,
                     options.ratio == BlockRatio::Quotient ? amax / max : amax * reciprocal);
}

/// log2 of a positive value as in ExponentForm::Log2.
static float roundedLog2(const QuantizeOptions& options, float value) {
  return inInputType(options, options.inInputType.ratio,
                     static_cast<float>(std::log2(static_cast<double>(value))));
}

/// The exponent of a power-of-two scale before it is clamped to the scale format. `amax` > 0.
static int scaleExponent(const ElementFormat& element, const QuantizeOptions& options, float amax) {
  const auto [k, m] = exponentAndSignificand(amax);
  const int floor = k - element.emax();
  const bool isLog2 = options.exponent == ExponentForm::Log2;
  switch (options.rule) {
  case ScaleRule::Floor:
    return isLog2 ? static_cast<int>(std::floor(roundedLog2(options, amax))) - element.emax()
                  : floor;
  case ScaleRule::Ceil:
    return isLog2 ? static_cast<int>(std::ceil(roundedLog2(options, amax))) - element.emax()
                  : floor + (m > 1);
  case ScaleRule::Even: {
    // Rounded half up to the element's significand, amax reaches 2^(k+1) from here on. An integer's
    // leading bit is one of its trailing bits.
    const int own = element.trailingSignificandBits - (element.isInteger() ? 1 : 0);
    const int trailing = options.evenBits.value_or(static_cast<std::uint8_t>(own));
    return floor + (m >= 2 - std::ldexp(1.0, -(trailing + 1)));
  }
  case ScaleRule::RoundUp: {
    const auto max = static_cast<float>(maxValue(element));
    // Ratios that are 0 or Inf in the input's type are beyond every scale.
    constexpr int kLeast = std::numeric_limits<int>::min(), kMost = std::numeric_limits<int>::max();
    if (options.ratio == BlockRatio::Inverted) { // 2^-e is max / amax rounded down
      const float inverse =
          inInputType(options, options.inInputType.ratio, std::min(max / amax, kLargest));
      if (inverse == 0 || std::isinf(inverse))
        return inverse == 0 ? kMost : kLeast;
      return -exponentAndSignificand(inverse).first;
    }
    const float ratio = roundUpRatio(element, options, amax);
    if (ratio == 0 || std::isinf(ratio))
      return ratio == 0 ? kLeast : kMost;
    if (isLog2)
      return static_cast<int>(std::ceil(roundedLog2(options, ratio)));
    const auto [e, significand] = exponentAndSignificand(ratio);
    return e + (significand > 1);
  }
  case ScaleRule::Nearest: {
    // A conversion to e8m0fnu (N7).
    const double value = options.ratio == BlockRatio::Quotient
                             ? inInputType(options, options.inInputType.ratio,
                                           amax / static_cast<float>(maxValue(element)))
                             : std::ldexp(static_cast<double>(amax), -element.emax());
    const ElementFormat& powers = format::element("e8m0fnu");
    return value == 0 ? powers.emin()
                      : static_cast<int>(convert(powers, value, {.overflow = Overflow::Saturate})) -
                            powers.bias;
  }
  }
  return floor;
}

/// Whether `even` rounds amax to 2^128, which f32 does not have.
static bool isPastRange(const ElementFormat& element, const QuantizeOptions& options, float amax) {
  return options.rule == ScaleRule::Even &&
         scaleExponent(element, options, amax) + element.emax() > 127;
}

/// amax over the element's largest value and the outer scale, in the arithmetic asked for.
static float scaleRatio(const ElementFormat& element, const QuantizeOptions& options, float amax,
                        const OuterScale& outer) {
  const auto max = static_cast<float>(maxValue(element));
  const float reciprocal = 1.0f / max;
  const bool inInput = options.inInputType.ratio;
  switch (options.ratio) {
  case BlockRatio::Standard:
  case BlockRatio::Quotient:
    break;
  case BlockRatio::JointQuotient: {
    const float divisor = max * outer.value;
    return amax / divisor;
  }
  case BlockRatio::OuterFirst: {
    const float ratio = amax / outer.value;
    return ratio / max;
  }
  case BlockRatio::InverseLast: {
    const float ratio = inInputType(options, inInput, amax / max);
    return ratio * outer.inverse;
  }
  case BlockRatio::InverseFirst: {
    const float factor = outer.inverse * reciprocal;
    return std::min(amax * factor, kLargest);
  }
  case BlockRatio::Inverted: {
    const float inverted = inInputType(options, inInput, std::min(max / amax, kLargest));
    return inInputType(options, inInput, 1.0f / inverted);
  }
  }
  const float ratio = inInputType(options, inInput, amax / max);
  return ratio / outer.value;
}

static std::uint32_t smallestCode(const ElementFormat& scale) {
  return isPowerOfTwoScale(scale) ? 0 : 1;
}

CornerCodes cornerCodes(const ElementFormat& scale, const QuantizeOptions& options) {
  const ScaleCorners& corners = options.corners;
  const auto codeOf = [&](GivenScale given) {
    return static_cast<std::uint32_t>(
        std::isnan(given.value) ? *scale.nanCode()
                                : convert(scale, given.value, {.overflow = Overflow::Saturate}));
  };
  const auto codeIf = [&](const std::optional<GivenScale>& given) {
    return given ? std::optional(codeOf(*given)) : std::nullopt;
  };
  CornerCodes codes{};
  codes.least = codeIf(corners.least).value_or(smallestCode(scale));
  if (corners.inputEpsilon) {
    codes.zero = codes.underflow =
        codeOf({std::ldexp(1.0f, -options.input->trailingSignificandBits)});
  } else {
    codes.zero = codeIf(corners.zero).value_or(isPowerOfTwoScale(scale) ? 0 : codeOf({1.0f}));
    codes.underflow = codeIf(corners.underflow).value_or(codes.least);
  }
  codes.nan = codeIf(corners.nan);
  codes.infinite = codeIf(corners.infinite);
  codes.pastRange = codeIf(corners.pastRange);
  return codes;
}

bool roundsScaleUp(const ElementFormat& scale, const QuantizeOptions& options) {
  return options.rounding == Rounding::Stochastic && options.rule == ScaleRule::RoundUp &&
         scale.isNarrow() && !isPowerOfTwoScale(scale);
}

/// The scale code of a block of amax `amax`, under the rule.
static std::uint32_t ruleCode(const ElementFormat& element, const ElementFormat& scale,
                              const QuantizeOptions& options, float amax, const OuterScale& outer) {
  const CornerCodes corners = cornerCodes(scale, options);
  if (amax == 0)
    return corners.zero;
  if (isPowerOfTwoScale(scale) || options.scaleValues == ScaleValues::PowersOfTwo) {
    if (corners.pastRange && isPastRange(element, options, amax))
      return *corners.pastRange;
    const ElementFormat& powers = format::element("e8m0fnu");
    const int exponent =
        std::clamp(scaleExponent(element, options, amax), powers.emin(), powers.emax());
    const auto code = static_cast<std::uint32_t>(encode(scale, std::ldexp(1.0, exponent)));
    return std::max(code, corners.least);
  }
  const float ratio = scaleRatio(element, options, amax, outer);
  const Rounding rounding =
      roundsScaleUp(scale, options) ? Rounding::TowardPositive : Rounding::TiesToEven;
  const auto code = static_cast<std::uint32_t>(
      encode(scale, round(scale, ratio, {.rounding = rounding, .overflow = Overflow::Saturate})));
  return code == 0 ? corners.underflow : std::max(code, corners.least);
}

std::uint32_t scaleCode(const ElementFormat& element, const ElementFormat& scale, ScaleRule rule,
                        float amax, float outer) {
  assert(std::isfinite(amax) && amax >= 0);
  return ruleCode(element, scale, {.rule = rule}, amax, {.value = outer});
}

OuterScale outerScale(const ElementFormat& element, const ElementFormat& scale, float amax,
                      const QuantizeOptions& options) {
  const auto product = static_cast<float>(maxValue(element) * maxValue(scale));
  const bool inInput = options.inInputType.outer;
  float inverse = 1.0f;
  switch (options.outer) {
  case OuterForm::Quotient: {
    const float ratio = inInputType(options, inInput, amax / product);
    return {.value = ratio == 0 ? 1.0f : ratio};
  }
  case OuterForm::Inverse:
    if (amax != 0)
      inverse = std::min(inInputType(options, inInput, product / amax), kLargest);
    break;
  case OuterForm::InverseOfReciprocal: {
    const float reciprocal = inInputType(options, inInput, 1.0f / amax);
    inverse = inInputType(options, inInput, reciprocal * product);
    if (std::isinf(inverse))
      inverse = 1.0f;
    break;
  }
  case OuterForm::One:
    return {};
  }
  return {.value = 1.0f / inverse, .inverse = inverse};
}

float outerScale(const ElementFormat& element, const ElementFormat& scale, float amax) {
  return outerScale(element, scale, amax, {}).value;
}

bool isPoisoned(const BlockFacts& block, const QuantizeOptions& options) {
  if (block.hasNan && options.nonFinite != NonFinite::SkipNan)
    return !options.corners.nan;
  return block.hasInf && options.nonFinite == NonFinite::Propagate && !options.corners.infinite;
}

bool needsWholeTensor(const QuantizeOptions& options, bool hasOuterScale) {
  if (!options.amax)
    return true;
  return !hasOuterScale && options.nonFinite != NonFinite::Error &&
         (options.nonFinite != NonFinite::SkipNan || options.corners.infinite);
}

Quotient quotientOf(const ScaledType& type, const QuantizeOptions& options) {
  if (isPowerOfTwoScale(*type.scale) && !type.hasOuterScale)
    return Quotient::Exact;
  switch (options.quotient) {
  case QuotientForm::Divided:
  case QuotientForm::DividedByQuotient:
    return Quotient::Divided;
  case QuotientForm::Successive:
    return Quotient::Successive;
  case QuotientForm::TimesInverse:
  case QuotientForm::TimesQuotient:
  case QuotientForm::TimesInverted:
    return Quotient::Multiplied;
  }
  return Quotient::Divided;
}

/// BlockScale::factor of a scale that is not Exact.
static float scaleFactor(const ScaledType& type, QuotientForm form, float scale, float amax,
                         const OuterScale& outer) {
  switch (form) {
  case QuotientForm::Divided:
    break;
  case QuotientForm::DividedByQuotient:
    return scale / outer.inverse;
  case QuotientForm::Successive:
    return scale;
  case QuotientForm::TimesInverse: {
    const float inverse = 1.0f / outer.inverse;
    const float product = scale * inverse;
    return std::min(1.0f / product, kLargest);
  }
  case QuotientForm::TimesQuotient: {
    const float inverse = 1.0f / outer.value;
    return inverse / scale;
  }
  case QuotientForm::TimesInverted:
    return amax == 0 ? 1.0f / scale
                     : std::min(static_cast<float>(maxValue(*type.element)) / amax, kLargest);
  }
  // Below f32's range the product would be 0, and 0 / 0 no value of the tensor.
  return std::max(scale * outer.value, std::numeric_limits<float>::denorm_min());
}

BlockScale blockScale(const ScaledType& type, const QuantizeOptions& options,
                      const BlockFacts& block, const OuterScale& outer) {
  const ScaleCorners& corners = options.corners;
  if (isPoisoned(block, options))
    return {static_cast<std::uint32_t>(*type.scale->nanCode()), 0};
  const auto given = [&] { return cornerCodes(*type.scale, options); };
  // 0 where the scale is not one of the rule's.
  const float found = block.hasInf ? kLargest : block.amax;
  float amax =
      std::max(options.amax && !type.hasOuterScale ? *options.amax : found, options.leastAmax);
  std::uint32_t code;
  if (block.hasNan && corners.nan && options.nonFinite != NonFinite::SkipNan) {
    code = *given().nan;
    amax = 0;
  } else if (block.hasInf && corners.infinite) {
    code = *given().infinite;
    amax = 0;
  } else {
    code = ruleCode(*type.element, *type.scale, options, amax, outer);
  }
  const double scale = decode(*type.scale, code);
  if (quotientOf(type, options) == Quotient::Exact || std::isnan(scale))
    return {code, 0};
  return {code, scaleFactor(type, options.quotient, static_cast<float>(scale), amax, outer)};
}

namespace {

struct Quantized {
  std::uint8_t code;
  bool isSaturated; ///< the input was finite and beyond what the element format reaches
};

} // namespace

/// x over its scale, before it is rounded to the element.
static double quotientFor(const ScaledType& type, const QuantizeOptions& options,
                          const BlockScale& block, float outer, float x) {
  const auto inInput = [&](float quotient) {
    return inInputType(options, options.inInputType.quotient, quotient);
  };
  double result = 0;
  switch (quotientOf(type, options)) {
  case Quotient::Exact:
    result = x / decode(*type.scale, block.code);
    break;
  case Quotient::Divided:
    result = inInput(x / block.factor);
    break;
  case Quotient::Multiplied:
    result = inInput(x * block.factor);
    break;
  case Quotient::Successive: {
    const float first = x / outer;
    result = first == 0 ? first : inInput(first / block.factor);
    break;
  }
  }
  const bool isSigned =
      options.zeroSign == ZeroSign::Positive || options.zeroSign == ZeroSign::Negative;
  if (isSigned && static_cast<float>(result) == 0)
    return options.zeroSign == ZeroSign::Positive ? 0.0 : -0.0;
  return result;
}

static Quantized quantizeValue(const ScaledType& type, const BlockScale& block, float outer,
                               float x, const QuantizeOptions& options, std::uint32_t randomBits) {
  double quotient = quotientFor(type, options, block, outer, x);
  if (std::isinf(x) && std::isnan(quotient)) // Inf * 0, Inf / Inf
    quotient = x;
  if (std::isnan(quotient)) // the sign of a NaN says nothing (S8)
    quotient = std::numeric_limits<double>::quiet_NaN();
  const Conversion conversion{.rounding = options.rounding,
                              .overflow = std::isinf(x) ? Overflow::Saturate : options.overflow,
                              .nan = NanCode::Maximum,
                              .randomBits = randomBits};
  std::uint64_t code = convert(*type.element, quotient, conversion);
  if (options.zeroSign == ZeroSign::PositiveRounded && decode(*type.element, code) == 0)
    code = 0;
  if (type.element->isInteger() && options.int8 == Int8Range::Symmetric &&
      code == *type.element->lowestCode())
    return {static_cast<std::uint8_t>(code + 1), static_cast<bool>(std::isfinite(x))};
  const bool isSaturated = std::isinf(quotient) ? static_cast<bool>(std::isfinite(x))
                                                : overflows(*type.element, quotient, conversion);
  return {static_cast<std::uint8_t>(code), isSaturated};
}

/// The scale of a block whose amax is unknown.
static BlockScale knownScale(const ScaledType& type, std::uint32_t scaleCode, float outer) {
  const auto scale = static_cast<float>(decode(*type.scale, scaleCode));
  return {scaleCode, scaleFactor(type, QuotientForm::Divided, scale, 0, {.value = outer})};
}

std::uint8_t quantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                             const QuantizeOptions& options, std::uint32_t randomBits) {
  assert(options.quotient == QuotientForm::Divided);
  return quantizeValue(type, knownScale(type, scaleCode, outer), outer, x, options, randomBits)
      .code;
}

bool isSaturated(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                 const QuantizeOptions& options) {
  QuantizeOptions divided = options;
  divided.quotient = QuotientForm::Divided;
  return quantizeValue(type, knownScale(type, scaleCode, outer), outer, x, divided, 0).isSaturated;
}

float dequantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer,
                        std::uint8_t element) {
  // Exact in f64, so the cast is the one rounding: an element has at most 7 significant bits, an
  // f32 scale 24; or a narrow scale 7 and the outer one 24.
  const double scale = decode(*type.scale, scaleCode);
  if (std::isnan(scale))
    return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(decode(*type.element, element) * scale * static_cast<double>(outer));
}

std::int64_t blockIndex(std::span<const std::int64_t> shape, std::span<const std::int64_t> block,
                        std::int64_t i) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::int64_t coordinate = i % shape[axis];
    i /= shape[axis];
    index += coordinate / block[axis] * stride;
    stride *= shape[axis] / block[axis] + (shape[axis] % block[axis] != 0);
  }
  return index;
}

static std::size_t count(std::span<const std::int64_t> shape) {
  std::size_t n = 1;
  for (std::int64_t extent : shape)
    n *= static_cast<std::size_t>(extent);
  return n;
}

/// The row-major block index of each element in turn, without a division per element and axis.
class BlockWalk {
public:
  BlockWalk(std::span<const std::int64_t> shape, std::span<const std::int64_t> block)
      : shape(shape), block(block), coordinate(shape.size(), 0), stride(shape.size(), 1) {
    const std::vector<std::int64_t> grid = format::scaleShape(shape, block);
    for (std::size_t axis = shape.size(); axis-- > 1;)
      stride[axis - 1] = stride[axis] * grid[axis];
  }

  std::size_t index() const { return current; }

  void next() {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++coordinate[axis] < shape[axis]) {
        if (coordinate[axis] % block[axis] == 0)
          current += stride[axis];
        return;
      }
      current -= (shape[axis] - 1) / block[axis] * stride[axis];
      coordinate[axis] = 0;
    }
  }

private:
  std::span<const std::int64_t> shape, block;
  std::vector<std::int64_t> coordinate, stride;
  std::size_t current = 0;
};

QuantizeResult quantize(std::span<const float> values, std::span<const std::int64_t> shape,
                        const ScaledType& type, const QuantizeOptions& options,
                        std::span<const std::uint32_t> randomBits) {
  assert(values.size() == count(shape) && type.block.size() == shape.size());
  assert(randomBits.size() == (options.rounding == Rounding::Stochastic ? values.size() : 0));
  QuantizeResult result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) {
      ++result.nonFinite;
      if (options.nonFinite == NonFinite::Error && !result.refused)
        result.refused = NonFiniteInput{static_cast<std::int64_t>(i), values[i]};
    }
  if (result.refused)
    return result;

  ScaledTensor& tensor = result.tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.type = type;
  tensor.elements.resize(values.size());
  const std::size_t blocks = count(format::scaleShape(shape, type.block));

  std::vector<BlockFacts> facts(blocks);
  BlockWalk walk(shape, type.block);
  for (float value : values) {
    facts[walk.index()].add(value);
    walk.next();
  }
  OuterScale outer;
  if (type.hasOuterScale) {
    float largest = options.amax.value_or(0.0f);
    for (const BlockFacts& block : facts)
      if (!options.amax && !isPoisoned(block, options))
        largest = std::max(largest, block.hasInf ? kLargest : block.amax);
    outer = outerScale(*type.element, *type.scale, largest, options);
    tensor.outer = outer.value;
    result.outerInverse = outer.inverse;
  }
  std::vector<BlockScale> scales(blocks);
  tensor.scales.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    scales[b] = blockScale(type, options, facts[b], outer);
    tensor.scales[b] = scales[b].code;
  }

  walk = BlockWalk(shape, type.block);
  for (std::size_t i = 0; i < values.size(); ++i, walk.next()) {
    const BlockScale& block = scales[walk.index()];
    if (type.scale->isNan(block.code))
      continue; // elements of a NaN block have code 0
    const Quantized quantized = quantizeValue(type, block, outer.value, values[i], options,
                                              randomBits.empty() ? 0 : randomBits[i]);
    tensor.elements[i] = quantized.code;
    result.saturated += quantized.isSaturated;
  }
  return result;
}

std::vector<float> dequantize(const ScaledTensor& tensor) {
  std::vector<float> values(tensor.elements.size());
  BlockWalk walk(tensor.shape, tensor.type.block);
  for (std::size_t i = 0; i < values.size(); ++i, walk.next())
    values[i] = dequantizeElement(tensor.type, tensor.scales[walk.index()], tensor.outer,
                                  tensor.elements[i]);
  return values;
}

} // namespace octavo::numerics
