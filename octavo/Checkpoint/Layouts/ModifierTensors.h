// Finds tensors beside a weight's codes and scales that modify what it computes: zero points,
// column orders, scales of inputs. octavo applies none of them. If one has an effect, the layer's
// values are not codes times scales.
#pragma once

#include "octavo/Checkpoint/Layer.h"

namespace octavo::checkpoint {

/// Sets `unapplied` and `idle` of a layer whose other members are set. Returns the tensor that is
/// not applied, if there is one.
std::optional<StoredTensor> findModifiers(const Folder& folder, Layer& layer);

} // namespace octavo::checkpoint
