#include "octavo/Checkpoint/Reports/Diff.h"

#include "octavo/Checkpoint/WeightList.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::checkpoint {

namespace {

/// What is summed over the values of a weight.
struct Sums {
  std::uint64_t differing = 0;
  std::uint64_t notFinite = 0; ///< of those, where one or both are NaN or infinite
  double maxAbsolute = 0, maxRelative = 0, amax = 0, squares = 0, errors = 0;

  void add(float a, float b) {
    const double size = std::fabs(double{a});
    if (std::isfinite(a)) {
      amax = std::max(amax, size);
      squares += size * size;
    }
    if (a == b || (std::isnan(a) && std::isnan(b)))
      return;
    ++differing;
    const bool areFinite = std::isfinite(a) && std::isfinite(b);
    notFinite += areFinite ? 0 : 1;
    const double error =
        areFinite ? std::fabs(double{a} - double{b}) : std::numeric_limits<double>::infinity();
    maxAbsolute = std::max(maxAbsolute, error);
    if (size > 0 || !std::isfinite(error))
      maxRelative = std::max(maxRelative, std::isfinite(error) ? error / size : error);
    errors += error * error;
  }
};

/// Axes of a plain tensor beside a layer that says how its plain twin lies.
PlainAxes axesBeside(const NamedWeight& weight, const NamedWeight& other) {
  return weight.plain && other.layer ? other.layer->plainAxes : PlainAxes::Same;
}

bool haveSameShape(const ValueRows& a, const ValueRows& b) {
  return std::ranges::equal(a.shape(), b.shape());
}

void compareValues(const NamedWeight& first, const NamedWeight& second, WeightDifference& result) {
  const auto a = WeightRows::open(first, axesBeside(first, second));
  const auto b = WeightRows::open(second, axesBeside(second, first));
  if (!a || !b) {
    result.sameness = Sameness::Unreadable;
    result.why = (a ? b.error() : a.error()).message();
    return;
  }
  if (!haveSameShape(a->rows(), b->rows())) {
    result.sameness = Sameness::OtherShape;
    result.why = fmt::format("[{}] and [{}]", fmt::join(first.shape(), ", "),
                             fmt::join(second.shape(), ", "));
    return;
  }
  Sums sums;
  Scratch scratch;
  std::vector<float> x, y;
  const ValueRows& other = b->rows();
  for (const Piece& piece : piecesOf(a->rows(), other.step())) {
    const auto n = static_cast<std::size_t>((piece.end - piece.begin) * other.columns());
    x.resize(n);
    y.resize(n);
    const auto done = a->rows().read(piece, x.data(), scratch).and_then([&] {
      return other.read(piece, y.data(), scratch);
    });
    if (!done) {
      result.sameness = Sameness::Unreadable;
      result.why = done.error().message();
      return;
    }
    for (std::size_t i = 0; i < n; ++i)
      sums.add(x[i], y[i]);
    result.elements += n;
  }
  result.sameness = sums.differing == 0 ? Sameness::EqualValues : Sameness::Different;
  result.differing = sums.differing;
  if (sums.notFinite > 0)
    result.why = fmt::format("NaN or infinite in one of them, where the other has another value: "
                             "{} of the values that differ",
                             sums.notFinite);
  result.maxAbsolute = sums.maxAbsolute;
  result.maxRelative = sums.maxRelative;
  // A difference from nothing but zeros is infinite.
  const auto over = [](double error, double size) {
    return error == 0 ? 0 : size == 0 ? std::numeric_limits<double>::infinity() : error / size;
  };
  result.ofAmax = over(sums.maxAbsolute, sums.amax);
  result.rms = over(std::sqrt(sums.errors), std::sqrt(sums.squares));
}

WeightDifference compare(const NamedWeight* first, const NamedWeight* second) {
  WeightDifference result = {.name = (first ? first : second)->name,
                             .sameness = first ? Sameness::OnlyInFirst : Sameness::OnlyInSecond,
                             .first = first ? first->kind() : "",
                             .second = second ? second->kind() : ""};
  if (!first || !second)
    return result;
  const auto identical = areIdentical(*first, *second);
  if (!identical) {
    result.sameness = Sameness::Unreadable;
    result.why = identical.error().message();
  } else if (*identical) {
    result.sameness = Sameness::Identical;
    result.elements = static_cast<std::uint64_t>(numerics::elementCount(first->shape()));
  } else {
    compareValues(*first, *second, result);
  }
  return result;
}

/// Pairs of the weights of two lists by name; the one that is missing is null.
std::vector<std::pair<const NamedWeight*, const NamedWeight*>> pairsOf(const WeightList& first,
                                                                       const WeightList& second) {
  std::vector<std::pair<const NamedWeight*, const NamedWeight*>> pairs;
  for (const NamedWeight& weight : first.weights())
    pairs.emplace_back(&weight, second.find(weight.name));
  for (const NamedWeight& weight : second.weights())
    if (!first.find(weight.name))
      pairs.emplace_back(nullptr, &weight);
  std::ranges::sort(pairs, {}, [](const auto& pair) {
    return std::string_view((pair.first ? pair.first : pair.second)->name);
  });
  return pairs;
}

} // namespace

std::string_view samenessName(Sameness sameness) {
  switch (sameness) {
  case Sameness::Identical:
    return "identical";
  case Sameness::EqualValues:
    return "equal values";
  case Sameness::Different:
    return "different";
  case Sameness::OtherShape:
    return "other shape";
  case Sameness::OnlyInFirst:
    return "only in the first";
  case Sameness::OnlyInSecond:
    return "only in the second";
  case Sameness::Unreadable:
    return "not comparable";
  }
  return "";
}

std::uint64_t DiffReport::count(Sameness sameness) const {
  return static_cast<std::uint64_t>(
      std::ranges::count(weights, sameness, &WeightDifference::sameness));
}

bool DiffReport::isWithin(double tolerance) const {
  return std::ranges::all_of(weights, [&](const WeightDifference& weight) {
    return weight.sameness == Sameness::Identical || weight.sameness == Sameness::EqualValues ||
           (weight.sameness == Sameness::Different && weight.ofAmax <= tolerance);
  });
}

DiffReport diff(const Folder& first, const Folder& second, const kernels::Execution& execution,
                const std::function<void(std::uint64_t)>& progress) {
  Findings findings; // lint's business
  const WeightList a(first, findings), b(second, findings);
  const auto pairs = pairsOf(a, b);
  DiffReport report = {.firstLayout = std::string(a.layout().name()),
                       .secondLayout = std::string(b.layout().name()),
                       .weights = std::vector<WeightDifference>(pairs.size())};
  kernels::forRanges(pairs.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      report.weights[i] = compare(pairs[i].first, pairs[i].second);
      if (progress && pairs[i].first)
        progress(bytesOf(*pairs[i].first));
    }
  });
  return report;
}

} // namespace octavo::checkpoint
