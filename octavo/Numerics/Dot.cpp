#include "octavo/Numerics/Dot.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace octavo::numerics {

/// An exact sum of products of narrow numbers, in units of the product of the two quanta.
using ExactSum = __int128;

/// Bits of the largest finite magnitude of a format in units of its quantum.
static constexpr int magnitudeBits(const ElementFormat& format) {
  return format.isInteger() ? format.width() : format.emax() - format.quantumExponent() + 1;
}
static constexpr int kMaxLengthBits = 40;
static_assert(std::ranges::all_of(format::kElementFormats,
                                  [](const ElementFormat& format) {
                                    return !format.isNarrow() || !format.hasZero() ||
                                           2 * magnitudeBits(format) + kMaxLengthBits < 127;
                                  }),
              "the exact sum of a narrow format would not fit");

/// A finite decoded value as a multiple of its format's quantum.
static std::int64_t quanta(const ElementFormat& format, double value) {
  return static_cast<std::int64_t>(std::ldexp(value, -format.quantumExponent()));
}

double elementDot(const ElementFormat& a, std::span<const std::uint8_t> x, const ElementFormat& b,
                  std::span<const std::uint8_t> y) {
  assert(x.size() == y.size() && x.size() <= std::size_t{1} << kMaxLengthBits);
  assert(a.hasZero() && b.hasZero() && a.isNarrow() && b.isNarrow());
  ExactSum sum = 0;
  double special = 0; // carries Inf and NaN as IEEE 754 adds and multiplies them
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = decode(a, x[i]);
    const double v = decode(b, y[i]);
    if (std::isfinite(u) && std::isfinite(v))
      sum += static_cast<ExactSum>(quanta(a, u)) * quanta(b, v);
    else
      special += u * v;
  }
  if (special != 0) // NaN compares unequal
    return special;
  // The conversion of the integer is the one rounding: the exponent stays far inside f64's range.
  return std::ldexp(static_cast<double>(sum), a.quantumExponent() + b.quantumExponent());
}

float dot(const ScaledVector& x, const ScaledVector& y) {
  assert(x.elements.size() == y.elements.size());
  const auto size = static_cast<std::int64_t>(x.elements.size());
  float sum = 0;
  for (std::int64_t begin = 0; begin < size;) {
    const std::int64_t end = std::min(
        {size, (begin / x.blockSize + 1) * x.blockSize, (begin / y.blockSize + 1) * y.blockSize});
    const double elements = elementDot(*x.element, x.elements.subspan(begin, end - begin),
                                       *y.element, y.elements.subspan(begin, end - begin));
    const double scales = decode(*x.scale, x.scales[begin / x.blockSize]) *
                          decode(*y.scale, y.scales[begin / y.blockSize]);
    sum += static_cast<float>(elements * scales);
    begin = end;
  }
  return timesOuterScales(sum, x.outer, y.outer);
}

float timesOuterScales(float sum, float a, float b) {
  const float product = a * b;
  return std::isnormal(product) ? sum * product : static_cast<float>(sum * (double{a} * b));
}

} // namespace octavo::numerics
