// From one layout to another: without loss where both can say the same, else by quantizing anew.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include <tl/expected.hpp>

#include <optional>

namespace octavo::checkpoint {

/// What becomes of layers that the new layout has no spelling for.
struct Requantization {
  const format::ScaledFormat* format; ///< that the new layout spells
  numerics::QuantizeOptions options;
  const numerics::Preset* preset = nullptr; ///< whose options these are, if a preset's
};

struct ConversionChoice {
  const Layout* from;
  const Layout* to;
  std::optional<Requantization> requantization = {};
};

/// Plans a checkpoint of the layout `choice.to` with the values of `folder`. A layer whose scaled
/// format the new layout spells keeps its codes and scales bit for bit: names, ranks, packing and
/// dtypes change, and outer scales are inverted where one layout multiplies and the other divides.
/// Errors: layers that cannot be said, with the reason, unless they are to be quantized anew.
tl::expected<Rewrite, Error> planConversion(const Folder& folder, const ConversionChoice& choice,
                                            Json options);

} // namespace octavo::checkpoint
