// Any layout to plain tensors.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Kernels/WideMemory.h"

namespace octavo::checkpoint {

/// Plans a checkpoint of `folder`'s values, quantized layers as `dtype` under the names that plain
/// checkpoints have, without the scales, the configuration cleaned of quantization. `layout` is the
/// folder's. Errors: a layer that cannot be read; while it runs, a value beyond the dtype's
/// largest.
tl::expected<Rewrite, Error> planDequantization(const Folder& folder, const Layout& layout,
                                                kernels::WideType dtype, Json options);

} // namespace octavo::checkpoint
