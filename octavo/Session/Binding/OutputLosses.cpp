#include "octavo/Session/Binding/OutputLosses.h"

#include "octavo/Program/Values/Comparison.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace octavo::session {

using analysis::Losses;
using analysis::Metric;
using numerics::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> valuesOf(const Tensor& tensor) {
  const auto n = static_cast<std::size_t>(tensor.size());
  if (tensor.type == numerics::ElementType(format::element("f32"))) {
    const auto* values = reinterpret_cast<const float*>(tensor.bytes.data());
    return {values, values + n};
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = program::valueOf(tensor, static_cast<std::int64_t>(i));
  return values;
}

/// Sums over corresponding values of two ranges. Values are divided by the largest magnitude, so
/// that squares of large f64 do not overflow.
struct Sums {
  double scale = 0, aa = 0, bb = 0, ab = 0, dd = 0;

  Sums(std::span<const double> reference, std::span<const double> value) {
    for (std::size_t i = 0; i < reference.size(); ++i)
      scale = std::max({scale, std::fabs(reference[i]), std::fabs(value[i])});
    if (scale == 0)
      return;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double a = reference[i] / scale, b = value[i] / scale;
      aa += a * a;
      bb += b * b;
      ab += a * b;
      dd += (b - a) * (b - a);
    }
  }
};

/// 1 - cosine, as half of the squared distance of the two unit vectors. For near vectors, 1 - ab /
/// sqrt(aa bb) would lose most digits.
double cosineLoss(std::span<const double> reference, std::span<const double> value) {
  const Sums sums(reference, value);
  if (sums.scale == 0)
    return 0;
  if (sums.aa == 0 || sums.bb == 0)
    return 1;
  const double a = 1 / (sums.scale * std::sqrt(sums.aa)), b = 1 / (sums.scale * std::sqrt(sums.bb));
  double distance = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double d = value[i] * b - reference[i] * a;
    distance += d * d;
  }
  return std::min(distance / 2, 2.0);
}

/// Half of the squared relative error, for a row of one element, real or complex.
double lossOfOne(std::span<const double> reference, std::span<const double> value) {
  const Sums sums(reference, value);
  if (sums.dd == 0)
    return 0;
  return sums.aa == 0 ? 1 : std::min(sums.dd / sums.aa / 2, 2.0);
}

double lossOfRange(Metric metric, std::span<const double> reference,
                   std::span<const double> value) {
  if (!std::ranges::all_of(value, [](double x) { return std::isfinite(x); }))
    return kInfinity;
  if (metric == Metric::Cosine)
    return cosineLoss(reference, value);
  if (metric == Metric::Maximum) {
    double largest = 0;
    for (std::size_t i = 0; i < reference.size(); ++i)
      largest = std::max(largest, std::fabs(value[i] - reference[i]));
    return largest * largest;
  }
  assert(metric == Metric::Relative || metric == Metric::Sqnr);
  const Sums sums(reference, value);
  if (sums.dd == 0)
    return 0;
  return sums.aa == 0 ? kInfinity : sums.dd / sums.aa;
}

} // namespace

bool hasRowsOfOne(std::span<const std::int64_t> shape) {
  return shape.empty() || shape.back() == 1;
}

bool hasLoss(const numerics::ElementType& type) { return type.isFloat() || type.isComplex(); }

Losses lossesOf(Metric metric, const Tensor& reference, const Tensor& value) {
  assert(hasLoss(reference.type));
  if (reference.shape != value.shape || value.type.isComplex() != reference.type.isComplex()) {
    Losses parts = lossesOf(metric, reference, reference);
    std::ranges::fill(parts, kInfinity);
    return parts;
  }
  const Tensor realReference = program::realNumbers(reference),
               realValue = program::realNumbers(value);
  const std::vector<double> expected = valuesOf(realReference), found = valuesOf(realValue);
  if (expected.empty())
    return {0};
  // realNumbers puts the parts of a complex number on a last axis, within its row.
  std::size_t row = expected.size();
  if (metric == Metric::Cosine && reference.shape.size() > 1)
    row = static_cast<std::size_t>(reference.shape.back()) * (reference.type.isComplex() ? 2 : 1);
  const bool isOfOne = metric == Metric::Cosine && hasRowsOfOne(reference.shape);
  Losses losses;
  for (std::size_t at = 0; at < expected.size(); at += row) {
    const auto from = std::span(expected).subspan(at, row), to = std::span(found).subspan(at, row);
    const bool isFinite = std::ranges::all_of(to, [](double x) { return std::isfinite(x); });
    losses.push_back(isOfOne && isFinite ? lossOfOne(from, to) : lossOfRange(metric, from, to));
  }
  return limitParts(std::move(losses), kMostParts);
}

Losses limitParts(Losses losses, std::size_t most) {
  if (losses.size() <= most)
    return losses;
  const std::size_t together = (losses.size() + most - 1) / most;
  Losses parts;
  for (std::size_t at = 0; at < losses.size(); at += together)
    parts.push_back(*std::max_element(
        losses.begin() + static_cast<std::ptrdiff_t>(at),
        losses.begin() + static_cast<std::ptrdiff_t>(std::min(at + together, losses.size()))));
  return parts;
}

} // namespace octavo::session
