// Finds by which scale rule and with which library's settings a layer was quantized, as far as its
// bytes tell.
#pragma once

#include "octavo/Checkpoint/WeightList.h"

#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// What gives the same bytes as the layer.
struct Reproduction {
  /// Scale rules that give the layer's scales from its original's values.
  std::vector<std::string_view> rules;
  /// Presets that give the layer's scales and codes.
  std::vector<std::string_view> presets;
};

/// Quantizes the first values of `original` (a tile of whole rows of blocks) with every rule and
/// preset of the layer's format. Both lists are empty if no rule or preset gives the same bytes.
/// They are also empty if it cannot be tried: no row has the layer's format, one scale covers more
/// values than the tile, the axes are swapped, or the two weights cannot be compared.
Reproduction reproductionOf(const NamedWeight& layer, const NamedWeight& original);

} // namespace octavo::checkpoint
