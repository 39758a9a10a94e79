#include "octavo/Checkpoint/Lint/LintSubject.h"

#include "octavo/Checkpoint/TensorChunks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace octavo::checkpoint {

namespace {

/// Bytes of one piece of work.
constexpr std::uint64_t kRangeBytes = 64 * kChunkBytes;

struct CodeRange {
  std::size_t layer;
  std::uint64_t begin, end; ///< bytes of the layer's elements
};

/// The largest factor that the scales of a part apply; nullopt if no scale is usable.
std::optional<double> largestFactor(const std::optional<Part>& part,
                                    const std::optional<ScaleCensus>& census) {
  if (!part || !census || census->largest == 0)
    return std::nullopt;
  return part->meaning == Meaning::Multiplies ? double{census->largest}
                                              : 1 / double{census->smallest};
}

} // namespace

std::optional<double> LayerCensus::largestWeight() const {
  std::optional<double> weight = largestFactor(layer->scales, scales);
  if (!weight)
    return std::nullopt;
  *weight *= magnitude(*layer->type.element, codes.largest);
  if (layer->type.hasOuterScale) {
    const std::optional<double> factor = largestFactor(layer->outer, outer);
    if (!factor)
      return std::nullopt;
    *weight *= *factor;
  }
  return weight;
}

std::vector<LayerCensus> takeLayerCensuses(const Inventory& inventory,
                                           const kernels::Execution& execution,
                                           std::vector<Error>& unread) {
  const std::vector<Layer>& layers = inventory.layers;
  std::vector<LayerCensus> censuses(layers.size());
  std::vector<std::optional<Error>> errors(layers.size());
  std::vector<CodeRange> pieces;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    censuses[i].layer = &layers[i];
    const std::uint64_t size = layers[i].elements.tensor.size();
    for (std::uint64_t begin = 0; begin < size; begin += kRangeBytes)
      pieces.push_back({i, begin, std::min(begin + kRangeBytes, size)});
  }

  std::mutex mutex;
  kernels::forRanges(pieces.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const CodeRange& piece = pieces[i];
      auto census = takeCodeCensus(layers[piece.layer].elements, piece.begin, piece.end);
      const std::lock_guard lock(mutex);
      if (census)
        censuses[piece.layer].codes += *census;
      else
        errors[piece.layer] = std::move(census.error());
    }
  });
  kernels::forRanges(layers.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto take = [&](const std::optional<Part>& part, std::optional<ScaleCensus>& to) {
        if (!part)
          return;
        if (auto census = takeScaleCensus(*part))
          to = *census;
        else
          errors[i] = std::move(census.error());
      };
      take(layers[i].scales, censuses[i].scales);
      take(layers[i].outer, censuses[i].outer);
      take(layers[i].inputScale, censuses[i].input);
    }
  });
  std::vector<LayerCensus> taken;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (errors[i])
      unread.push_back(std::move(*errors[i]));
    else
      taken.push_back(censuses[i]);
  return taken;
}

void reportUnread(const Error& error, Findings& findings) {
  constexpr RuleName kRule = "torn-shard";
  const auto isOfFile = [&](const Finding& each) {
    return each.rule == kRule && each.file == error.file;
  };
  if (std::ranges::any_of(findings, isOfFile))
    return;
  const std::string where = error.offset ? fmt::format(" (at byte {})", *error.offset) : "";
  findings.push_back(finding(kRule, error.file, error.tensor, error.problem + where));
}

std::string placeText(std::span<const std::int64_t> shape, std::uint64_t index) {
  std::vector<std::uint64_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[axis], 1));
    place[axis] = index % extent;
    index /= extent;
  }
  return fmt::format("[{}]", fmt::join(place, ", "));
}

} // namespace octavo::checkpoint
