// Finds buffers of a quantizer that were saved with the weights: of ModelOpt's quantizers, of
// observers and fake quantization, of Transformer Engine. Layers that are read do not need them.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <optional>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The module to whose quantizer a tensor belongs, by name: "l.0.q_proj" for
/// "l.0.q_proj.weight_quantizer._amax". nullopt for other tensors, and for scales that change what
/// the module computes (pre_quant_scale).
std::optional<std::string_view> quantizedModule(std::string_view tensor);

/// The plain tensors of an inventory that are such buffers. Their module must be a quantized layer
/// with scales, or have such a layer below it: without other scales, the buffers may be the scales.
std::vector<StoredTensor> leakedState(const Inventory& inventory);

} // namespace octavo::checkpoint
