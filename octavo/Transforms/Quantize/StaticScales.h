// Scales of activations that are constants of the program, from a calibration.
#pragma once

#include "octavo/Analysis/Calibration.h"
#include "octavo/Analysis/RangeChoice.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace octavo::transforms {

struct Dot;
struct DotFormats;

/// A calibration and which range of a tensor its scale is for.
struct StaticScales {
  std::string file; ///< for messages
  analysis::Calibration calibration;
  std::string path = {}; ///< of the file; empty: there is none
};

/// The names of dots in calibrations: those of the source; where dots share one, "#2" stands at the
/// end of the second, "#3" of the third, in the order of the program.
std::vector<std::string> calibratedNames(llvm::ArrayRef<Dot> dots);

/// What is wrong with static scales for these formats: activations that stay wide or whose scales
/// are of blocks, mean squares under an outer scale.
llvm::Error checkStaticScales(const DotFormats& formats);

/// Gives the activations of quantized dots the amax for their scales, where their settings have
/// static ones. The error names a dot that the calibration does not have, with near names, one that
/// has other columns in it, or no range because no value but 0 was seen.
llvm::Error setStaticScales(llvm::MutableArrayRef<Dot> dots);

} // namespace octavo::transforms
