// A layer in another scaled format without loss: the same element values under the same scales, on
// another grid, in other formats.
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

/// The codes of `to` that have the values of those of `from`, sign and NaN included; nothing where
/// some value of `from` is none of `to`.
std::optional<std::array<std::uint8_t, 256>> codesWithValuesOf(const format::ElementFormat& from,
                                                               const format::ElementFormat& to);

/// The exponents of scales that are powers of two: 2^least to 2^most.
struct ScaleExponents {
  int least, most;
};

/// Those of a layer, outer scale included; nothing where a scale is no power of two (NaN is left
/// out). Errors: of reading the file.
tl::expected<std::optional<ScaleExponents>, Error> scaleExponents(const LayerReader& reader);

/// The outer scale under which scales of at most 2^most are exact in `scale` as far down as
/// possible; it and its inverse are normal numbers of f32.
float outerFor(const format::ElementFormat& scale, int most);

/// Why a layer is not exact in the elements, blocks and scales of `plan` under `outer`, as a
/// clause; nothing where it is. A scale over a block of zeros may be below the smallest of the new
/// format: its values are 0 under any. Reads the scales, and the codes under such ones. Errors: of
/// reading the file.
tl::expected<std::optional<std::string>, Error> whyInexact(const LayerReader& reader,
                                                           const LayerPlan& plan, float outer);

/// Writes a layer for which whyInexact is nothing. `input`: the numbers of the plan's input scale
/// as they are stored. Fails at scales that are doubtful and not allowed.
std::unique_ptr<Step> recastStep(const LayerReader& reader, LayerPlan plan, float outer,
                                 std::vector<float> input, Doubts allowed);

} // namespace octavo::checkpoint
