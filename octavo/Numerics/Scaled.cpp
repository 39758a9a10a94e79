#include "octavo/Numerics/Scaled.h"

#include <algorithm>
#include <array>
#include <bit>
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
  case ScaleRule::Even:
    // Rounded half up to one bit more than the trailing significand has, amax reaches 2^(k+1).
    // INT8's trailing significand is the six bits below its integer bit.
    {
      const int trailing = element.isInteger() ? element.bias : element.trailingSignificandBits;
      return floor + (m >= 2 - std::ldexp(1.0, -(trailing + 1)));
    }
  case ScaleRule::RoundUp: {
    // The owners multiply by the f32 reciprocal; for every element format here the product with
    // the largest value itself is exactly 1, so a block at the maximum is not bumped.
    const float reciprocal = static_cast<float>(1.0 / maxValue(element));
    const float ratio = amax * reciprocal;
    if (ratio == 0)
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
    const int exponent =
        std::clamp(scaleExponent(element, rule, amax), scale.emin(), scale.emax());
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

std::uint8_t quantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                             const QuantizeOptions& options, std::uint32_t randomBits) {
  const double scale = decode(*type.scale, scaleCode);
  const Conversion conversion{.rounding = options.rounding,
                              .overflow = options.overflow,
                              .nan = NanCode::Maximum,
                              .randomBits = randomBits};
  const double quotient = isPowerOfTwoScale(*type.scale) && !type.hasOuterScale
                              ? x / scale
                              : static_cast<double>(x / (static_cast<float>(scale) * outer));
  std::uint64_t code = convert(*type.element, quotient, conversion);
  if (type.element->isInteger() && options.int8 == Int8Range::Symmetric &&
      code == *type.element->lowestCode())
    ++code;
  return static_cast<std::uint8_t>(code);
}

float dequantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer,
                        std::uint8_t element) {
  // At most 8 + 24 + 24 significant bits would not fit a double; an outer scale goes with a scale
  // of at most 8 bits in every row, so the product is exact and the cast rounds once.
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
  const double limit = maxValue(*type.element);
  for (std::size_t i = 0; i < values.size(); ++i, walk.next()) {
    const std::uint32_t scale = tensor.scales[walk.index()];
    if (poisoned[walk.index()])
      continue; // the elements of a NaN block are 0
    tensor.elements[i] = quantizeElement(type, scale, tensor.outer, values[i], options,
                                         randomBits.empty() ? 0 : randomBits[i]);
    const double largest = limit * decode(*type.scale, scale) * tensor.outer;
    result.saturated += std::isfinite(values[i]) && std::fabs(values[i]) > largest;
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
