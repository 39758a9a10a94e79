#include "octavo/Program/Values/Comparison.h"

#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace octavo::program {

using numerics::Tensor;

std::vector<std::int64_t> indexOf(std::span<const std::int64_t> shape, std::int64_t i) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = i % shape[axis];
    i /= shape[axis];
  }
  return index;
}

namespace {

double integerValue(numerics::IntegerType type, std::uint64_t code) {
  if (type.isUnsigned || type.width == 1)
    return static_cast<double>(code);
  const int unused = 64 - type.width;
  return static_cast<double>(static_cast<std::int64_t>(code << unused) >> unused);
}

Comparison compareReal(const Tensor& reference, const Tensor& value);

} // namespace

Tensor realNumbers(const Tensor& tensor) {
  if (!tensor.type.isComplex())
    return tensor;
  std::vector<std::int64_t> shape = tensor.shape;
  shape.push_back(2);
  return {tensor.type.part(), std::move(shape), tensor.bytes};
}

double valueOf(const Tensor& tensor, std::int64_t i) {
  const std::uint64_t code = tensor.code(i);
  if (tensor.type.isFloat())
    return numerics::decode(tensor.type.format(), code);
  if (tensor.type.isInteger())
    return integerValue(tensor.type.integer(), code);
  const numerics::QuantizedType& type = tensor.type.quantized();
  const std::size_t at =
      type.axis
          ? static_cast<std::size_t>(indexOf(tensor.shape, i)[static_cast<std::size_t>(*type.axis)])
          : 0;
  return (integerValue(type.storage, code) - static_cast<double>(type.zeroPoints[at])) *
         type.scales[at];
}

namespace {

/// The number of steps in the format between two values, given by their codes.
std::uint64_t codesApart(const format::ElementFormat& format, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = format.signMask();
  const std::uint64_t fromZeroA = a & ~sign, fromZeroB = b & ~sign;
  if ((a & sign) != (b & sign))
    return fromZeroA + fromZeroB; // below 2^64: each is below 2^63
  return std::max(fromZeroA, fromZeroB) - std::min(fromZeroA, fromZeroB);
}

/// |a - b| for two integers of a type, given by their codes.
std::uint64_t integersApart(numerics::IntegerType type, std::uint64_t a, std::uint64_t b) {
  if (!type.isUnsigned && type.width > 1) {
    // Flipping the sign bit gives signed values the order of unsigned ones.
    const std::uint64_t sign = std::uint64_t{1} << (type.width - 1);
    a ^= sign;
    b ^= sign;
  }
  return std::max(a, b) - std::min(a, b);
}

/// |value - reference| of element `i`.
double distance(const Tensor& reference, const Tensor& value, std::int64_t i) {
  if (reference.type.isInteger() && reference.type == value.type)
    return static_cast<double>(
        integersApart(reference.type.integer(), reference.code(i), value.code(i)));
  return std::fabs(valueOf(value, i) - valueOf(reference, i));
}

double ulpsApart(const Tensor& reference, const Tensor& value, std::int64_t i) {
  if (reference.code(i) == value.code(i))
    return 0;
  const double expected = valueOf(reference, i), found = valueOf(value, i);
  if (std::isnan(expected) || std::isnan(found))
    return std::isnan(expected) && std::isnan(found) ? 0 : std::numeric_limits<double>::infinity();
  if (!reference.type.isFloat())
    return distance(reference, value, i);
  return static_cast<double>(codesApart(reference.type.format(), reference.code(i), value.code(i)));
}

} // namespace

UlpDistance ulpDistance(const Tensor& reference, const Tensor& value) {
  const Tensor expected = realNumbers(reference), found = realNumbers(value);
  if (expected.shape != found.shape)
    return {std::numeric_limits<double>::infinity(), {}};
  UlpDistance distance;
  for (std::int64_t i = 0; i < expected.size(); ++i)
    if (const double apart = ulpsApart(expected, found, i); apart > distance.largest)
      distance = {apart, indexOf(expected.shape, i)};
  return distance;
}

Comparison compare(const Tensor& reference, const Tensor& value) {
  assert(reference.shape == value.shape && reference.type.isComplex() == value.type.isComplex());
  if (reference.type.isComplex())
    return compareReal(realNumbers(reference), realNumbers(value));
  return compareReal(reference, value);
}

namespace {

Comparison compareReal(const Tensor& reference, const Tensor& value) {
  const std::int64_t n = reference.size();
  Comparison result{.cosine = 1, .relative = 0, .maximum = 0, .where = {}};
  // Squares of large f64 overflow, so everything is divided by the largest magnitude.
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = valueOf(reference, i), b = valueOf(value, i);
    if (std::isfinite(a) && std::isfinite(b))
      largest = std::max({largest, std::fabs(a), std::fabs(b)});
    else if (!(a == b || (std::isnan(a) && std::isnan(b))))
      ++result.nonFinite;
  }
  if (largest == 0)
    return result;
  double aa = 0, bb = 0, ab = 0, dd = 0;
  std::int64_t where = -1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double expected = valueOf(reference, i), found = valueOf(value, i);
    const double a = expected / largest, b = found / largest;
    if (!std::isfinite(a) || !std::isfinite(b))
      continue;
    const double difference = distance(reference, value, i);
    const double d = reference.type.isInteger() ? difference / largest : std::fabs(b - a);
    aa += a * a;
    bb += b * b;
    ab += a * b;
    dd += d * d;
    if (difference > result.maximum) {
      result.maximum = difference;
      where = i;
    }
  }
  result.cosine = aa == 0 || bb == 0 ? 0 : std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0);
  if (dd > 0)
    result.relative = aa == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(dd / aa);
  if (where >= 0)
    result.where = indexOf(reference.shape, where);
  return result;
}

} // namespace

} // namespace octavo::program
