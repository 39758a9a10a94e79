// Plans the conversion of any layout to plain tensors.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Kernels/WideMemory.h"

namespace octavo::checkpoint {

/// Options of dequantize.
struct DequantizationChoice {
  const Layout* layout;    ///< layout of the folder
  kernels::WideType dtype; ///< dtype of the plain weights
  Doubts allowed = {};
};

/// Plans a checkpoint of `folder`'s values: quantized layers become plain tensors of `dtype` under
/// their plain names, scales and quantization configuration are dropped. `options` identify the job
/// (Job::options). Errors: a layer that cannot be read; doubts that are not allowed. While the job
/// runs: doubtful scales of blocks that are not allowed; a value beyond the dtype's largest.
tl::expected<Rewrite, Error> planDequantization(const Folder& folder,
                                                const DequantizationChoice& choice, Json options);

} // namespace octavo::checkpoint
