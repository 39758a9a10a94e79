// Quantization of arrays whose widened copy need not fit into memory.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Kernels/Quantize.h"

#include <optional>

namespace octavo::python {

/// kernels::quantize of a row-major array of any wide type, bit for bit. bf16 and f16 are widened a
/// piece at a time: beside the result that takes 8 MB, or what one slab of blocks takes where that
/// is more (blocks over a whole first axis are one slab), or where values are NaN or infinite and a
/// scale of the whole tensor depends on them. `given` is an outer scale in place of the tensor's
/// own. Touches no Python object.
kernels::QuantizeReport quantizePiecewise(kernels::WideType type, const std::byte* values,
                                          const Shape& shape, const numerics::ScaledType& scaled,
                                          const numerics::QuantizeOptions& options,
                                          const std::optional<numerics::RandomStream>& stream,
                                          const std::optional<numerics::OuterScale>& given,
                                          std::uint8_t* codes, std::byte* scales,
                                          const kernels::Execution& execution);

} // namespace octavo::python
