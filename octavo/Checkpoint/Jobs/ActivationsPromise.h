// For verify: checks that layers quantized in both checkpoints quantize their activations alike.
#pragma once

#include "octavo/Checkpoint/WeightList.h"

#include <string>
#include <vector>

namespace octavo::checkpoint {

/// The result of checkActivations.
struct ActivationsCheck {
  std::size_t checked = 0;         ///< layers that are quantized in both checkpoints
  std::vector<std::string> broken; ///< one text for each layer that differs
};

/// Compares the activations of each layer that is quantized in both checkpoints. They must be
/// alike, or be the nearest that the output's layout can express for the source's
/// (Layout::settleActivations), a change that a conversion reports. Checks nothing if one of the
/// configurations does not state its layout.
ActivationsCheck checkActivations(const WeightList& output, const Folder& outputFolder,
                                  const WeightList& source, const Folder& sourceFolder);

} // namespace octavo::checkpoint
