// By which rule and whose settings a layer was quantized, as far as its bytes tell.
#pragma once

#include "octavo/Checkpoint/WeightList.h"

#include <string_view>
#include <vector>

namespace octavo::checkpoint {

struct Reproduction {
  /// Scale rules that give the layer's scales from the values of its original.
  std::vector<std::string_view> rules;
  /// Presets that give its scales and its codes.
  std::vector<std::string_view> presets;
};

/// Quantizes the first values of `original` (a tile of whole rows of blocks) by every rule and
/// preset of the layer's format. Both lists are empty where nothing gives the same bytes, and where
/// it cannot be tried: no row has the layer's format, one scale is of more than these values, or
/// the two cannot be read side by side.
Reproduction reproductionOf(const NamedWeight& layer, const NamedWeight& original);

} // namespace octavo::checkpoint
