// Buffers of a quantizer that were saved with the weights: of ModelOpt's quantizers, of observers
// and fake quantization, of Transformer Engine. A layer that is read has its scales without them.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <optional>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The module whose quantizer a tensor is a buffer of, as its name tells: "l.0.q_proj" of
/// "l.0.q_proj.weight_quantizer._amax". Nothing for other tensors, and for scales that change what
/// the module computes (pre_quant_scale).
std::optional<std::string_view> quantizedModule(std::string_view tensor);

/// The plain tensors of an inventory that are such buffers of a module that is read as a quantized
/// layer with scales, or that has such layers below it. Where a module has no other scale these may
/// be its scales, and are not among them.
std::vector<StoredTensor> leakedState(const Inventory& inventory);

} // namespace octavo::checkpoint
