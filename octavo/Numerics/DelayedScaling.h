// Scales of FP8 training recipes: from the amaxes of earlier steps (delayed) or from this one's
// (current). Transformer Engine's definitions; docs/semantics.md, F1 to F5.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

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

/// A number in [1, 2) that goes with a state of delayed scaling: with its scales, its histories and
/// its deciding amaxes, in that order. A sum of states has the sum of their seals, which is at
/// least 2; a mean of unlike states, or a multiple of one, has another seal than its numbers give,
/// but for one in 2^23. NaN of any sign and payload count alike, and so do zeros and subnormals,
/// which XLA flushes. octavo/training.py has the same function.
float stateSeal(std::initializer_list<std::span<const float>> numbers);

/// What an error says where a state's seal is another one.
inline constexpr std::string_view kBrokenSeal =
    "DelayedScales: the numbers are no state that delayed_dot_general gave. States were added, "
    "averaged or scaled; jax.grad adds them where one state serves a product more than once "
    "(microbatches, a scan, vmap, psum). Give each use a state of its own, or take the gradients "
    "one "
    "by one, and combine the states that they give: DelayedScales.merged(first, second), across "
    "devices with axis_name=";

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
