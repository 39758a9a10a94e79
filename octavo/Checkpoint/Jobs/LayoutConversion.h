// From one layout to another: without loss where both can say the same, else by quantizing anew.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include <tl/expected.hpp>

#include <optional>

namespace octavo::checkpoint {

/// What becomes of layers whose values the wanted format does not have.
struct Requantization {
  numerics::QuantizeOptions options;
  const numerics::Preset* preset = nullptr; ///< whose options these are, if a preset's
};

struct ConversionChoice {
  const Layout* from;
  const Layout* to;
  /// That all layers are written in, and the new layout spells; null: each in its own.
  const format::ScaledFormat* format = nullptr;
  std::optional<Requantization> requantization = {}; ///< with a format alone
  Doubts allowed = {};
};

/// Plans a checkpoint of the layout `choice.to` with the values of `folder`. A layer that is in the
/// wanted format keeps its codes and scales bit for bit: names, ranks, packing and dtypes change,
/// and outer scales are inverted where one layout multiplies and the other divides. One that the
/// wanted format has exactly (ExactRecast.h) keeps its values. Errors: other layers, with the
/// reason, unless they are to be quantized anew; doubts that are not allowed, those about scales of
/// blocks as they are read.
tl::expected<Rewrite, Error> planConversion(const Folder& folder, const ConversionChoice& choice,
                                            Json options);

} // namespace octavo::checkpoint
