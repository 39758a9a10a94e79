// How near a quantized weight has to be to what it was made from.
#pragma once

#include "octavo/Checkpoint/ValueRows.h"

#include <string>

namespace octavo::checkpoint {

/// How values may have been rounded to elements. Stochastically: to either neighbour, so that they
/// lie within a step, not half of one.
enum class ExpectedRounding : std::uint8_t { Nearest, Stochastic };

/// Where a value of `layer` is not what rounding the value of `source` gives, with the figures;
/// empty if all are. With s = scale * outer scale of the block and x, w the values before and
/// after:
///  - |x - w| <= half a step of the element format at w, times s (a step where rounding is
///    stochastic); or
///  - w is the largest value times s, and |x| is what the scale rule clips there: below
///    2^(emax + 1) * s for E8M0 scales (OCP MX 6.3's rule clips up to there), else within the
///    rounding of the scale itself;
///  - where the scale is narrow (E8M0, E4M3), and not its format's smallest, the amax of the block
///    is at least 2^(emax - 1) * s: no rule gives a larger scale;
///  - x is NaN where w is.
/// Precondition: the shapes agree.
std::string brokenQuantization(const LayerReader& layer, const ValueRows& source,
                               ExpectedRounding rounding);

} // namespace octavo::checkpoint
