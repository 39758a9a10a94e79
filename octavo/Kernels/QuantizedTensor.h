// A tensor of f32 as a scaled tensor with memory of its own.
#pragma once

#include "octavo/Kernels/QuantizeBothAxes.h"

#include <tl/expected.hpp>

namespace octavo::kernels {

/// numerics::quantize, bit for bit; `randomBits` as quantize takes them. The values are row-major;
/// with Layout::Transposed they and the random bits are those of the result with its last two axes
/// exchanged. The error is the value that NonFinite::Error refuses. The memory of `old`, a tensor
/// that is no longer needed, is used again.
tl::expected<numerics::ScaledTensor, NonFiniteInput>
quantizedTensor(const float* values, std::span<const std::int64_t> shape, const ScaledType& type,
                const QuantizeOptions& options, std::span<const std::uint32_t> randomBits = {},
                Layout layout = Layout::RowMajor, const Execution& execution = {},
                numerics::ScaledTensor&& old = {});

} // namespace octavo::kernels
