// The attention modules of a model, from the names of its tensors.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <string>
#include <vector>

namespace octavo::checkpoint {

/// Modules that keep keys and values: those that have a projection for them, but for those of
/// vision and audio towers. In the order of layers ("model.layers.2..." before
/// "model.layers.10...").
std::vector<std::string> attentionModules(const Folder& folder);

} // namespace octavo::checkpoint
