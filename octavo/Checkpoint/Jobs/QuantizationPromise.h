// How near a quantized weight has to be to what it was made from.
#pragma once

#include "octavo/Checkpoint/PairedRows.h"
#include "octavo/Kernels/WideMemory.h"

#include <optional>
#include <string>

namespace octavo::checkpoint {

/// How values may have been rounded to elements. Stochastically: to either neighbour, so that they
/// lie within a step, not half of one.
enum class ExpectedRounding : std::uint8_t { Nearest, Stochastic };

/// Looks for values of a layer that are not what rounding those of its source gives. With
/// s = scale * outer scale of the block and x, w the values before and after:
///  - |x - w| <= half a step of the element format at w, times s (a step where rounding is
///    stochastic); or
///  - w is the largest value times s, and |x| is what the scale rule clips there: from w up, below
///    2^(emax + 1) * s for E8M0 scales (OCP MX 6.3's rule clips up to there), else within the
///    rounding of the scale itself;
///  - where the scale is narrow (E8M0, E4M3), and not its format's smallest, the amax of the block
///    is at least 2^(emax - 1) * s: no rule gives a larger scale;
///  - x is NaN where w is.
class QuantizationCheck {
public:
  /// `rows`: first the layer's source, second the layer, which `reader` reads. Both must outlive
  /// the check.
  /// `through`: the dtype that the source's values were rounded to before they were quantized.
  QuantizationCheck(const PairedRows& rows, const LayerReader& reader, ExpectedRounding rounding,
                    std::optional<kernels::WideType> through = {});

  /// The first such value of a piece, with the figures; empty if there is none.
  std::string brokenIn(Piece piece, Scratch& scratch) const;

private:
  const PairedRows& rows;
  const LayerReader& layer;
  ExpectedRounding rounding;
  std::optional<kernels::WideType> through;
};

/// Rounds f32 values to a wide type and back.
void roundTo(kernels::WideType type, float* values, std::size_t n, Scratch& scratch);

} // namespace octavo::checkpoint
