// Quantization of bf16 and f16 arrays in pieces, so that no f32 copy of the whole array is needed.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Kernels/Quantize.h"

#include <optional>

namespace octavo::python {

/// Quantizes a row-major array, with the bits of kernels::quantize. bf16 and f16 values are widened
/// to f32 in pieces of 8 MB. A piece is larger if one slab of blocks is larger (blocks that span
/// the whole first axis form one slab), and it is the whole array if a scale of the whole tensor
/// depends on NaN or infinite values. `given` replaces the tensor's own outer scale. Touches no
/// Python object.
kernels::QuantizeReport quantizePiecewise(kernels::WideType type, const std::byte* values,
                                          const Shape& shape, const numerics::ScaledType& scaled,
                                          const numerics::QuantizeOptions& options,
                                          const std::optional<numerics::RandomStream>& stream,
                                          const std::optional<numerics::OuterScale>& given,
                                          std::uint8_t* codes, std::byte* scales,
                                          const kernels::Execution& execution);

} // namespace octavo::python
