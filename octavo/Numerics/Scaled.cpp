#include "octavo/Numerics/Scaled.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace octavo::numerics {

using format::Specials;

static constexpr auto kNonFiniteNames = std::to_array<std::pair<NonFinite, std::string_view>>({
    {NonFinite::Error, "error"},
    {NonFinite::Propagate, "propagate"},
    {NonFinite::Saturate, "saturate"},
});

std::string_view nonFiniteName(NonFinite policy) {
  return std::ranges::find(kNonFiniteNames, policy, &std::pair<NonFinite, std::string_view>::first)
      ->second;
}

std::optional<NonFinite> findNonFinite(std::string_view name) {
  auto row =
      std::ranges::find(kNonFiniteNames, name, &std::pair<NonFinite, std::string_view>::second);
  return row == kNonFiniteNames.end() ? std::nullopt : std::optional(row->first);
}

static bool isPowerOfTwoScale(const ElementFormat& scale) {
  return scale.specials == Specials::Scale;
}

/// k and m of amax = m * 2^k, 1 <= m < 2. `amax` > 0.
static std::pair<int, double> exponentAndSignificand(double amax) {
  int exponent;
  const double significand = std::frexp(amax, &exponent);
  return {exponent - 1, 2 * significand};
}

/// The exponent of a power-of-two scale before it is clamped to the scale format.
static int scaleExponent(const ElementFormat& element, ScaleRule rule, float amax) {
  const auto [k, m] = exponentAndSignificand(amax);
  const int floor = k - element.emax();
  switch (rule) {
  case ScaleRule::Floor:
    return floor;
  case ScaleRule::Ceil:
    return floor + (m > 1);
  case ScaleRule::Even: {
    // Rounded half up to the element's significand, amax reaches 2^(k+1) from here on. An integer's
    // leading bit is one of its trailing bits.
    const int trailing = element.trailingSignificandBits - (element.isInteger() ? 1 : 0);
    return floor + (m >= 2 - std::ldexp(1.0, -(trailing + 1)));
  }
  case ScaleRule::RoundUp: {
    // The owners multiply by the reciprocal in f32. In every element format its product with the
    // largest value rounds to exactly 1, so a block at its maximum is not bumped.
    const float reciprocal = static_cast<float>(1.0 / maxValue(element));
    const float ratio = amax * reciprocal;
    if (ratio == 0) // below every scale
      return std::numeric_limits<int>::min();
    const auto [e, significand] = exponentAndSignificand(ratio);
    return e + (significand > 1);
  }
  case ScaleRule::Nearest:
    return floor + (m >= 1.5);
  }
  return floor;
}

std::uint32_t scaleCode(const ElementFormat& element, const ElementFormat& scale, ScaleRule rule,
                        float amax, float outer) {
  assert(std::isfinite(amax) && amax >= 0);
  if (isPowerOfTwoScale(scale)) {
    if (amax == 0)
      return 0;
    const int exponent = std::clamp(scaleExponent(element, rule, amax), scale.emin(), scale.emax());
    return static_cast<std::uint32_t>(exponent + scale.bias);
  }
  if (amax == 0)
    return static_cast<std::uint32_t>(encode(scale, 1.0));
  const float ratio = amax / static_cast<float>(maxValue(element)) / outer;
  const double rounded = round(scale, ratio, {.overflow = Overflow::Saturate});
  return static_cast<std::uint32_t>(encode(scale, std::max(rounded, minPositive(scale))));
}

float outerScale(const ElementFormat& element, const ElementFormat& scale, float amax) {
  const float ratio = amax / static_cast<float>(maxValue(element) * maxValue(scale));
  return ratio == 0 ? 1.0f : ratio;
}

namespace {

struct Quantized {
  std::uint8_t code;
  bool isSaturated; ///< the input was finite and beyond what the element format reaches
};

} // namespace

static Quantized quantizeValue(const ScaledType& type, std::uint32_t scaleCode, float outer,
                               float x, const QuantizeOptions& options, std::uint32_t randomBits) {
  const double scale = decode(*type.scale, scaleCode);
  double quotient = x / scale;
  if (!isPowerOfTwoScale(*type.scale) || type.hasOuterScale) {
    // Below f32's range the product would be 0, and 0 / 0 no value of the tensor.
    const float divisor =
        std::max(static_cast<float>(scale) * outer, std::numeric_limits<float>::denorm_min());
    quotient = x / divisor;
  }
  const Conversion conversion{.rounding = options.rounding,
                              .overflow = std::isinf(x) ? Overflow::Saturate : options.overflow,
                              .nan = NanCode::Maximum,
                              .randomBits = randomBits};
  const std::uint64_t code = convert(*type.element, quotient, conversion);
  if (type.element->isInteger() && options.int8 == Int8Range::Symmetric &&
      code == *type.element->lowestCode())
    return {static_cast<std::uint8_t>(code + 1), static_cast<bool>(std::isfinite(x))};
  return {static_cast<std::uint8_t>(code), overflows(*type.element, quotient, conversion)};
}

std::uint8_t quantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                             const QuantizeOptions& options, std::uint32_t randomBits) {
  return quantizeValue(type, scaleCode, outer, x, options, randomBits).code;
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
  assert(randomBits.empty() ? options.rounding != Rounding::Stochastic
                            : randomBits.size() == values.size());
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

  std::vector<float> amax(blocks, 0.0f);
  std::vector<std::uint8_t> poisoned(blocks, 0);
  BlockWalk walk(shape, type.block);
  for (float value : values) {
    const std::size_t b = walk.index();
    if (std::isnan(value) || (std::isinf(value) && options.nonFinite == NonFinite::Propagate))
      poisoned[b] = 1;
    else
      amax[b] = std::max(amax[b], std::min(std::fabs(value), std::numeric_limits<float>::max()));
    walk.next();
  }
  if (type.hasOuterScale) {
    float largest = 0;
    for (std::size_t b = 0; b < blocks; ++b)
      largest = poisoned[b] ? largest : std::max(largest, amax[b]);
    tensor.outer = outerScale(*type.element, *type.scale, largest);
  }
  tensor.scales.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b)
    tensor.scales[b] =
        poisoned[b] ? static_cast<std::uint32_t>(*type.scale->nanCode())
                    : scaleCode(*type.element, *type.scale, options.rule, amax[b], tensor.outer);

  walk = BlockWalk(shape, type.block);
  for (std::size_t i = 0; i < values.size(); ++i, walk.next()) {
    if (poisoned[walk.index()])
      continue; // elements of a NaN block are code 0
    const Quantized quantized =
        quantizeValue(type, tensor.scales[walk.index()], tensor.outer, values[i], options,
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
