#include "octavo/Checkpoint/Reports/Diff.h"

#include "octavo/Base/NaturalOrder.h"
#include "octavo/Checkpoint/PairedRows.h"
#include "octavo/Checkpoint/PieceSearch.h"
#include "octavo/Kernels/Comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

namespace octavo::checkpoint {

namespace {

using Pair = std::pair<const NamedWeight*, const NamedWeight*>;

/// Sets the figures of `result` from those of all pieces, summed in order.
void setFigures(std::span<const kernels::Comparison> pieces, std::uint64_t zeroSigns,
                std::uint64_t elements, WeightDifference& result) {
  kernels::Comparison all;
  for (const kernels::Comparison& piece : pieces)
    all.add(piece);
  result.elements = elements;
  result.differing = all.differing();
  result.zeroSigns = zeroSigns;
  result.sameness = result.differing == 0 ? Sameness::EqualValues : Sameness::Different;
  if (zeroSigns > 0)
    result.why = fmt::format("0 of another sign: {} of the values that are equal", zeroSigns);
  if (all.notFinite() > 0)
    result.why = fmt::format("NaN or infinite in one of them and another value in the other: {} of "
                             "the values that differ",
                             all.notFinite());
  result.maxAbsolute = all.largestError();
  result.maxRelative = all.largestRatio();
  // A difference relative to zeros only is infinite.
  const auto over = [](double error, double size) {
    return error == 0 ? 0 : size == 0 ? std::numeric_limits<double>::infinity() : error / size;
  };
  result.ofAmax = over(all.largestError(), all.amax());
  result.rms = over(std::sqrt(all.errorSquares()), std::sqrt(all.valueSquares()));
}

/// The result before values are read.
WeightDifference beginningOf(const Pair& pair) {
  const auto& [first, second] = pair;
  return {.name = (first ? first : second)->name,
          .sameness = !second  ? Sameness::OnlyInFirst
                      : !first ? Sameness::OnlyInSecond
                               : Sameness::Different,
          .first = first ? first->kind() : "",
          .second = second ? second->kind() : ""};
}

/// Marks pairs with identical bytes.
void findIdentical(std::span<const Pair> pairs, const WorkSettings& settings,
                   std::span<WeightDifference> differences) {
  std::vector<PieceSearch> searches;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (const auto& [first, second] = pairs[i]; first && second && haveSameParts(*first, *second)) {
      searches.push_back(byteSearch(*first, *second, 0));
      which.push_back(i);
    }
  const std::vector<std::string> found = search(searches, settings);
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!found[i].empty())
      continue;
    const NamedWeight& weight = *pairs[which[i]].first;
    differences[which[i]].sameness = Sameness::Identical;
    differences[which[i]].elements =
        static_cast<std::uint64_t>(numerics::elementCount(weight.shape()));
    settings.advance(bytesOf(weight));
  }
}

/// The comparison of one pair's values, piece by piece.
struct ValueComparison {
  WeightDifference* result;
  PairedRows rows;
  std::vector<kernels::Comparison> pieces;
  std::vector<std::uint64_t> zeroSigns; ///< by piece: pairs +0 and -0

  std::string compare(std::size_t piece, Scratch& scratch) {
    const auto done = rows.forTiles(
        rows.pieces()[piece], scratch, [&](Piece tile, const float* x, const float* y) {
          const auto n = static_cast<std::size_t>((tile.end - tile.begin) * rows.columns());
          pieces[piece].add(x, y, n, {.threads = 1});
          for (std::size_t i = 0; i < n; ++i)
            zeroSigns[piece] += x[i] == 0 && y[i] == 0 && std::signbit(x[i]) != std::signbit(y[i]);
          return true;
        });
    return done ? "" : done.error().message();
  }
};

/// Compares the values of pairs that are still marked Different.
void compareValues(std::span<const Pair> pairs, const WorkSettings& settings,
                   std::span<WeightDifference> differences) {
  std::vector<std::unique_ptr<ValueComparison>> comparisons;
  std::vector<PieceSearch> searches;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    WeightDifference& result = differences[i];
    if (result.sameness != Sameness::Different)
      continue;
    auto rows = PairedRows::open(*pairs[i].first, *pairs[i].second);
    if (!rows) {
      result.sameness = rows.error().haveOtherShapes ? Sameness::OtherShape : Sameness::Unreadable;
      result.why = rows.error().why;
      settings.advance(bytesOf(*pairs[i].first));
      continue;
    }
    const std::vector<Piece> pieces(rows->pieces().begin(), rows->pieces().end());
    comparisons.push_back(std::make_unique<ValueComparison>(
        &result, std::move(*rows), std::vector<kernels::Comparison>(pieces.size()),
        std::vector<std::uint64_t>(pieces.size())));
    ValueComparison& comparison = *comparisons.back();
    searches.push_back({.pieces = pieces,
                        .pieceMemory = comparison.rows.pieceMemory(),
                        .bytes = bytesOf(*pairs[i].first),
                        .look = [&comparison](std::size_t piece, Scratch& scratch) {
                          return comparison.compare(piece, scratch);
                        }});
  }
  std::vector<std::string> problems = search(searches, settings);
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    const ValueComparison& comparison = *comparisons[i];
    if (problems[i].empty()) {
      setFigures(
          comparison.pieces,
          std::accumulate(comparison.zeroSigns.begin(), comparison.zeroSigns.end(),
                          std::uint64_t{0}),
          static_cast<std::uint64_t>(comparison.rows.first().rows() * comparison.rows.columns()),
          *comparison.result);
    } else {
      comparison.result->sameness = Sameness::Unreadable;
      comparison.result->why = std::move(problems[i]);
    }
  }
}

/// Pairs the weights of two lists by name; a missing weight is null.
std::vector<Pair> pairsOf(const WeightList& first, const WeightList& second) {
  std::vector<Pair> pairs;
  for (const NamedWeight& weight : first.weights())
    pairs.emplace_back(&weight, second.find(weight.name));
  for (const NamedWeight& weight : second.weights())
    if (!first.find(weight.name))
      pairs.emplace_back(nullptr, &weight);
  std::ranges::sort(pairs, base::precedesNaturally, [](const Pair& pair) -> std::string_view {
    return (pair.first ? pair.first : pair.second)->name;
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
    const bool hasValues = weight.sameness == Sameness::Identical ||
                           weight.sameness == Sameness::EqualValues ||
                           weight.sameness == Sameness::Different;
    return hasValues && weight.ofAmax <= tolerance && (tolerance > 0 || weight.zeroSigns == 0);
  });
}

DiffReport diff(const Folder& first, const Folder& second, const DiffOptions& options) {
  Findings findings; // reported by lint, not here
  const WeightList a(first, findings, options.firstLayout),
      b(second, findings, options.secondLayout);
  const std::vector<Pair> pairs = pairsOf(a, b);
  DiffReport report = {.firstLayout = std::string(a.layout().name()),
                       .secondLayout = std::string(b.layout().name()),
                       .weights = {}};
  std::ranges::transform(pairs, std::back_inserter(report.weights), beginningOf);
  findIdentical(pairs, options.work, report.weights);
  compareValues(pairs, options.work, report.weights);
  return report;
}

} // namespace octavo::checkpoint
