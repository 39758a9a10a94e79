// Finds the attention modules of a model by the names of its tensors.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <string>
#include <vector>

namespace octavo::checkpoint {

/// Modules that cache keys and values: those with a key projection, except in vision and audio
/// towers. In numerical order ("model.layers.2..." before "model.layers.10...").
std::vector<std::string> attentionModules(const Folder& folder);

} // namespace octavo::checkpoint
