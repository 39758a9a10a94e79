// Converts a checkpoint from one layout to another: without loss if the new layout can express the
// values, else by quantizing again.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include <tl/expected.hpp>

#include <optional>

namespace octavo::checkpoint {

/// How to quantize layers whose values the wanted format cannot express.
struct Requantization {
  numerics::QuantizeOptions options;
  const numerics::Preset* preset = nullptr; ///< the preset of these options; null: none
};

/// Options of convert.
struct ConversionChoice {
  const Layout* from; ///< layout of the source
  const Layout* to;   ///< layout of the output
  /// The format of all layers in the output, which the new layout must spell; null: each layer
  /// keeps its own.
  const format::ScaledFormat* format = nullptr;
  std::optional<Requantization> requantization = {}; ///< only together with `format`
  Doubts allowed = {};
};

/// Plans a checkpoint with the values of `folder` in layout `choice.to`.
///  - A layer already in the wanted format keeps its codes and scales bit for bit. Names, ranks,
///    packing and dtypes change, and outer scales are inverted if one layout multiplies and the
///    other divides.
///  - A layer that the wanted format expresses exactly (ExactRecast.h) keeps its values.
///  - Any other layer is quantized again if choice.requantization is set; else it is an error that
///    gives the reason.
///
/// Other errors: doubts that are not allowed. Scales of blocks are checked when they are read,
/// while the job runs.
tl::expected<Rewrite, Error> planConversion(const Folder& folder, const ConversionChoice& choice,
                                            Json options);

} // namespace octavo::checkpoint
