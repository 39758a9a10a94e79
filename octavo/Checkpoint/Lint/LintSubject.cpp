#include "octavo/Checkpoint/Lint/LintSubject.h"

#include "octavo/Checkpoint/Files/PackedCodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>

namespace octavo::checkpoint {

namespace {

/// Bytes of one piece of work; divisible by 3, so that pieces of packed 6-bit codes begin at bytes.
constexpr std::size_t kPiece = std::size_t{12} << 20;

struct Piece {
  std::size_t layer, begin, end; ///< bytes of the layer's elements
};

CodeCensus censusOf(const Part& elements, std::span<const std::byte> bytes) {
  const format::ElementFormat& format = *elements.format;
  if (!elements.packed)
    return takeCodeCensus(format, bytes);
  return takePackedCodeCensus(format, bytes, bytes.size() * 8 / format.width());
}

std::optional<ScaleCensus> censusOf(const std::optional<Part>& part) {
  return part ? std::optional(takeScaleCensus(*part)) : std::nullopt;
}

/// Largest factor that the scales of a part apply; nothing where the part has none that is usable.
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
                                           const kernels::Execution& execution) {
  const std::vector<Layer>& layers = inventory.layers;
  std::vector<LayerCensus> censuses(layers.size());
  std::vector<Piece> pieces;
  // Pieces of a layer that are not done yet: the last one lets the tensor's pages go.
  const auto left = std::make_unique<std::atomic<std::size_t>[]>(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    censuses[i].layer = &layers[i];
    const std::size_t size = layers[i].elements.tensor.bytes().size();
    const std::size_t before = pieces.size();
    for (std::size_t begin = 0; begin < size; begin += kPiece)
      pieces.push_back({i, begin, std::min(begin + kPiece, size)});
    left[i] = pieces.size() - before;
  }

  std::mutex mutex;
  kernels::forRanges(pieces.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = pieces[i];
      const Part& elements = layers[piece.layer].elements;
      const CodeCensus census =
          censusOf(elements, elements.tensor.bytes().subspan(piece.begin, piece.end - piece.begin));
      {
        const std::lock_guard lock(mutex);
        censuses[piece.layer].codes += census;
      }
      if (--left[piece.layer] == 0)
        elements.tensor.shard->release(*elements.tensor.entry);
    }
  });
  kernels::forRanges(layers.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Layer& layer = layers[i];
      censuses[i].scales = censusOf(layer.scales);
      censuses[i].outer = censusOf(layer.outer);
      censuses[i].input = censusOf(layer.inputScale);
    }
  });
  return censuses;
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
