// Writes a layer in another scaled format without loss: the same values, with other element and
// scale formats and another grid.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/Jobs/LayerPlan.h"
#include "octavo/Checkpoint/LayerReader.h"

#include <tl/expected.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace octavo::checkpoint {

/// For each code of `from` the code of `to` with the same value, sign and NaN included. nullopt if
/// `to` lacks a value of `from`.
std::optional<std::array<std::uint8_t, 256>> codesWithValuesOf(const format::ElementFormat& from,
                                                               const format::ElementFormat& to);

/// The range of scales that are powers of two: 2^least to 2^most.
struct ScaleExponents {
  int least, most; ///< exponents
};

/// The range of a layer's scales, outer scale included and NaN left out. nullopt if a scale is not
/// a power of two. Errors: reading the file.
tl::expected<std::optional<ScaleExponents>, Error> scaleExponents(const LayerReader& reader);

/// The outer scale under which scales up to 2^most are exact in `scale`, and scales as small as
/// possible too. It and its inverse are normal f32 numbers.
float outerFor(const format::ElementFormat& scale, int most);

/// Why a layer is not exact in the elements, blocks and scales of `plan` under `outer`, as a
/// clause; nullopt if it is exact. A scale over a block of zeros may be below the new format's
/// smallest: its values are 0 under any scale. Reads the scales, and the codes under scales that
/// are too small. Errors: reading the file.
tl::expected<std::optional<std::string>, Error> whyInexact(const LayerReader& reader,
                                                           const LayerPlan& plan, float outer);

/// A step that writes a layer for which whyInexact is nullopt. `input`: the numbers of the plan's
/// input scale as they are stored. The step fails at scales that are doubtful and not in `allowed`.
std::unique_ptr<Step> recastStep(const LayerReader& reader, LayerPlan plan, float outer,
                                 std::vector<float> input, Doubts allowed);

} // namespace octavo::checkpoint
