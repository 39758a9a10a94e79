// Whether layers that were quantized before have their activations quantized as they had.
#pragma once

#include "octavo/Checkpoint/WeightList.h"

#include <string>
#include <vector>

namespace octavo::checkpoint {

struct ActivationsCheck {
  std::size_t checked = 0;         ///< layers that are quantized in both
  std::vector<std::string> broken; ///< with what both say
};

/// Of each layer that is quantized in both: its activations are alike, or what the output's layout
/// can say nearest to the source's of such weights (Layout::settleActivations), which a conversion
/// announces. Nothing is checked where a configuration does not say.
ActivationsCheck checkActivations(const WeightList& output, const Folder& outputFolder,
                                  const WeightList& source, const Folder& sourceFolder);

} // namespace octavo::checkpoint
