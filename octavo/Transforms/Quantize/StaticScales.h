// Static scales: scales of activations that are constants, from a calibration.
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

/// A calibration, for the static scales of activations.
struct StaticScales {
  std::string file; ///< for messages
  analysis::Calibration calibration;
  std::string path = {}; ///< path of the file; empty: not from a file
};

/// The names of dots in calibrations: those of the source. Later dots of a shared name get "#2",
/// "#3" appended, in program order.
std::vector<std::string> calibratedNames(llvm::ArrayRef<Dot> dots);

/// Fails if these formats cannot have static scales: activations that stay wide or have scales of
/// blocks; mean squares under an outer scale.
llvm::Error checkStaticScales(const DotFormats& formats);

/// Sets the amax of the activations of quantized dots whose settings have static scales. Fails on a
/// dot that the calibration lacks (with near names), that has another number of columns there, or
/// no range because only 0 was seen.
llvm::Error setStaticScales(llvm::MutableArrayRef<Dot> dots);

} // namespace octavo::transforms
