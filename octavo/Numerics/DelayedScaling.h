// Scales of FP8 training recipes, from the amaxes of earlier steps (delayed) or from the amax of
// this step (current). Transformer Engine's definitions; docs/semantics.md, F1 to F5.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace octavo::numerics {

/// Which amax of the history decides the scale.
enum class AmaxChoice : std::uint8_t {
  Max,        ///< the largest; NaN does not count
  MostRecent, ///< slot 0
};

/// The effect of an amax of 0 in slot 0.
enum class ZeroAmax : std::uint8_t {
  Roll, ///< nothing special
  Keep, ///< history and scale stay as they are: the tensor was not used in this step
};

/// The settings of delayed scaling.
struct DelayedScaling {
  AmaxChoice choice = AmaxChoice::Max;
  ZeroAmax zeroAmax = ZeroAmax::Roll;
  int margin = 0; ///< divides the scale by 2^margin
};

/// The factor that values are multiplied by before their conversion to FP8, and its inverse, which
/// is stored with the FP8 values.
struct TrainingScale {
  float scale;
  float inverse;

  friend constexpr bool operator==(const TrainingScale&, const TrainingScale&) = default;
};

/// One step of delayed scaling. Slot 0 of `history` holds the amax of the step that ends, slots 1
/// to N - 1 the older ones, oldest first. The scale comes from the history as it is; then the
/// history rolls: slot 0's amax becomes the last slot, slot 0 becomes 0. The scale is
/// max / 2^margin / amax in f32, with max of `format`. An infinite quotient gives the largest f32.
/// If amax is not positive, infinite or NaN, the old `scale` stays. `history` has at least one
/// slot.
TrainingScale updateDelayedScale(const ElementFormat& format, const DelayedScaling& recipe,
                                 std::span<float> history, float scale);

/// A checksum in [1, 2) of a state of delayed scaling: of its scales, histories and deciding
/// amaxes, in that order. It detects states that were added or averaged. A sum of states has the
/// sum of their seals, which is at least 2. A mean of unlike states, or a multiple of a state, has
/// the wrong seal with probability 1 - 2^-23. All NaN count as equal, and so do all zeros and
/// subnormals, which XLA flushes. octavo/training.py has the same function.
float stateSeal(std::initializer_list<std::span<const float>> numbers);

/// The error message for a state whose seal does not match its numbers.
inline constexpr std::string_view kBrokenSeal =
    "DelayedScales: the numbers are no state that delayed_dot_general gave. States were added, "
    "averaged or scaled; jax.grad adds them where one state serves a product more than once "
    "(microbatches, a scan, vmap, psum). Give each use a state of its own, or take the gradients "
    "one "
    "by one, and combine the states that they give: DelayedScales.merged(first, second), across "
    "devices with axis_name=";

/// The scales that a current scaling may have.
enum class CurrentScales : std::uint8_t {
  All,
  PowersOfTwo, ///< rounded down: the significand is cleared
};

/// The scale of a tensor of amax `amax`: max / amax in f32, with amax raised to at least `epsilon`.
/// 1 if amax is 0, infinite or NaN; the largest f32 if the quotient is infinite.
TrainingScale currentScale(const ElementFormat& format, float amax, float epsilon = 0,
                           CurrentScales scales = CurrentScales::All);

} // namespace octavo::numerics
