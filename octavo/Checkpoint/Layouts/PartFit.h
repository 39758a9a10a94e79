// Whether stored tensors are the parts of one layer under one spelling, and if not, why.
#pragma once

#include "octavo/Checkpoint/Layouts/LayerScan.h"

#include <map>
#include <string>

namespace octavo::checkpoint {

/// A weight and the tensors whose names make them its scales.
struct Candidate {
  std::string module, parameter;
  StoredTensor elements;
  /// By spelled name: "*_scale" -> tensor.
  std::map<std::string_view, StoredTensor> scales;
  const Json* config = nullptr; ///< of the model
};

struct Fit {
  Layer layer;
  Findings problems;  ///< none: it fits
  bool exact = false; ///< dtypes and shapes are those that the spelling names, not only equivalent
};

/// Reads `candidate` by `spelling`. Nothing if its elements cannot be this format's at all.
std::optional<Fit> fitParts(const Candidate& candidate, const LayerSpelling& spelling,
                            const Claim& claim);

/// "F8_E4M3 [128, 64]"
std::string describe(const SafetensorsEntry& entry);

/// The number of a scale tensor that holds but one, or one a head: F32, BF16 or F16. Null
/// otherwise.
const format::ElementFormat* floatScaleFormat(const SafetensorsEntry& entry);

} // namespace octavo::checkpoint
