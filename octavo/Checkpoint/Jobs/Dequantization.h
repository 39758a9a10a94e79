// Any layout to plain tensors.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Kernels/WideMemory.h"

namespace octavo::checkpoint {

struct DequantizationChoice {
  const Layout* layout; ///< the folder's
  kernels::WideType dtype;
  Doubts allowed = {};
};

/// Plans a checkpoint of `folder`'s values, quantized layers as `dtype` under the names that plain
/// checkpoints have, without the scales, the configuration cleaned of quantization. Errors: a layer
/// that cannot be read; doubts that are not allowed; while it runs, scales that are doubtful, and a
/// value beyond the dtype's largest.
tl::expected<Rewrite, Error> planDequantization(const Folder& folder,
                                                const DequantizationChoice& choice, Json options);

} // namespace octavo::checkpoint
