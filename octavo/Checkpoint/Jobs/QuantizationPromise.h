// Checks that a quantized weight is as near to its source as its format allows.
#pragma once

#include "octavo/Checkpoint/PairedRows.h"
#include "octavo/Kernels/WideMemory.h"

#include <optional>
#include <string>

namespace octavo::checkpoint {

/// How values were rounded to elements. Stochastic rounding may pick either neighbour, so values
/// lie within one step, not half a step.
enum class ExpectedRounding : std::uint8_t { Nearest, Stochastic };

/// Finds values of a layer that cannot result from quantizing its source. Let s be scale * outer
/// scale of the block, and x, w a value before and after. Each value must satisfy one of:
///  - |x - w| <= half a step of the element format at w, times s (one step if rounding is
///    stochastic);
///  - w is the largest value times s, and |x| is what the scale rule clips: from |w| up to
///    2^(emax+1) * s for E8M0 scales (the limit of OCP MX 6.3's rule), else within the rounding of
///    the scale;
///  - both are NaN.
/// And if the scale format is narrow (E8M0, E4M3) and the scale is not its smallest, the block's
/// amax must be at least 2^(emax-1) * s: no scale rule gives a larger scale.
class QuantizationCheck {
public:
  /// `rows`: first the source, second the layer, which `reader` reads. Both must outlive the check.
  /// `through`: the dtype to which the source's values were rounded before they were quantized.
  QuantizationCheck(const PairedRows& rows, const LayerReader& reader, ExpectedRounding rounding,
                    std::optional<kernels::WideType> through = {});

  /// Describes the first value of a piece that breaks a bound, with its figures; empty if there is
  /// none.
  std::string brokenIn(Piece piece, Scratch& scratch) const;

private:
  const PairedRows& rows;
  const LayerReader& layer;
  ExpectedRounding rounding;
  std::optional<kernels::WideType> through;
};

/// Rounds `n` f32 values in place to a wide type. May overwrite scratch.codes.
void roundTo(kernels::WideType type, float* values, std::size_t n, Scratch& scratch);

} // namespace octavo::checkpoint
