// Scales of FP8 training recipes: from the amaxes of earlier steps (delayed) or from this one's
// (current). Transformer Engine's definitions; docs/semantics.md, F1 to F5.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <cstdint>
#include <span>

namespace octavo::numerics {

/// Which amax of the history decides.
enum class AmaxChoice : std::uint8_t {
  Max,        ///< the largest; NaN does not count
  MostRecent, ///< slot 0
};

/// What an amax of 0 in slot 0 does.
enum class ZeroAmax : std::uint8_t {
  Roll, ///< nothing special
  Keep, ///< history and scale stay as they are: the tensor was not used in this step
};

struct DelayedScaling {
  AmaxChoice choice = AmaxChoice::Max;
  ZeroAmax zeroAmax = ZeroAmax::Roll;
  int margin = 0; ///< the scale is made 2^margin times smaller
};

/// What values are multiplied by on their way to FP8, and its inverse, which is stored with them.
struct TrainingScale {
  float scale;
  float inverse;

  friend constexpr bool operator==(const TrainingScale&, const TrainingScale&) = default;
};

/// One step of delayed scaling. Slot 0 of `history` holds the amax of the step that ends, slots 1
/// to N - 1 the older ones, oldest first. The scale comes from the history as it is; then the
/// history rolls: slot 0's amax becomes the last slot, slot 0 becomes 0. The scale is
/// max / 2^margin / amax in f32, with max of `format`; the largest f32 where that is infinite; the
/// old one where amax is not positive, infinite or NaN. `history` has at least one slot.
TrainingScale updateDelayedScale(const ElementFormat& format, const DelayedScaling& recipe,
                                 std::span<float> history, float scale);

/// Which scales a current scaling may have.
enum class CurrentScales : std::uint8_t {
  All,
  PowersOfTwo, ///< rounded down: the significand is cleared
};

/// The scale of a tensor of amax `amax`: max / amax in f32, amax at least `epsilon`. 1 where amax
/// is 0, infinite or NaN; the largest f32 where the quotient is infinite.
TrainingScale currentScale(const ElementFormat& format, float amax, float epsilon = 0,
                           CurrentScales scales = CurrentScales::All);

} // namespace octavo::numerics
