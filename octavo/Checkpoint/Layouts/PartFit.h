// Checks whether stored tensors are the parts of one layer under one spelling, and if not, why.
#pragma once

#include "octavo/Checkpoint/Layouts/LayerScan.h"

#include <map>
#include <string>

namespace octavo::checkpoint {

/// A weight and the tensors that are its scales by name.
struct Candidate {
  std::string module, parameter;
  StoredTensor elements;
  /// By spelled name: "*_scale" to its tensor.
  std::map<std::string_view, StoredTensor> scales;
  const Json* config = nullptr; ///< configuration of the model
};

/// The result of fitParts.
struct Fit {
  Layer layer;        ///< what was read; parts that do not fit are left out
  Findings problems;  ///< it fits if none of them is an error
  bool exact = false; ///< dtypes and shapes are exactly as spelled, not only equivalent
};

/// Reads `candidate` by `spelling`. nullopt if its elements cannot have this format.
std::optional<Fit> fitParts(const Candidate& candidate, const LayerSpelling& spelling,
                            const Claim& claim);

/// Dtype and shape as text: "F8_E4M3 [128, 64]".
std::string describe(const SafetensorsEntry& entry);

/// The format of a scale tensor of one number, or one for each head: F32, BF16 or F16. Null for
/// other dtypes.
const format::ElementFormat* floatScaleFormat(const SafetensorsEntry& entry);

} // namespace octavo::checkpoint
