// Quantization of an f32 tensor to a scaled tensor that owns its memory.
#pragma once

#include "octavo/Kernels/QuantizeBothAxes.h"

#include <tl/expected.hpp>

namespace octavo::kernels {

/// The result of numerics::quantize, bit for bit; `randomBits` as for kernels::quantize. The values
/// are row-major. With Layout::Transposed, the values and the random bits are in the order of the
/// result with its last two axes exchanged. The error is the value that NonFinite::Error refuses.
/// The result reuses the memory of `old`.
tl::expected<numerics::ScaledTensor, NonFiniteInput>
quantizedTensor(const float* values, std::span<const std::int64_t> shape, const ScaledType& type,
                const QuantizeOptions& options, std::span<const std::uint32_t> randomBits = {},
                Layout layout = Layout::RowMajor, const Execution& execution = {},
                numerics::ScaledTensor&& old = {});

} // namespace octavo::kernels
