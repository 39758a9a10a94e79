// Conversion of f32, bf16 and f16 tensors to codes of the narrow formats and back, one code per
// byte: the same bits as numerics::convert and numerics::decode for each element.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/WideMemory.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Philox.h"

#include <cstdint>
#include <span>

namespace octavo::kernels {

using format::ElementFormat;
using numerics::Conversion;
using numerics::Rounding;

/// Converts `n` elements of `type` at `values` to `codes`. For stochastic rounding, `randomBits`
/// has one number per element; otherwise it is empty. conversion.randomBits is not used.
void convert(const ElementFormat& format, const Conversion& conversion, WideType type,
             const void* values, std::uint8_t* codes, std::size_t n,
             std::span<const std::uint32_t> randomBits = {}, const Execution& execution = {});

/// As convert, with stochastic rounding whose numbers come from a stream: element i uses number
/// first + i (N11).
void convertSeeded(const ElementFormat& format, const Conversion& conversion, WideType type,
                   const void* values, std::uint8_t* codes, std::size_t n,
                   const numerics::RandomStream& stream, std::uint64_t first = 0,
                   const Execution& execution = {});

/// Converts `n` codes to elements of `type` at `values`. Every narrow value is exact in f32 and
/// bf16; f16 is rounded to nearest, ties to even. Bits of a code above the format's width are
/// ignored. A NaN has its code's sign if the format has signed NaN.
void decode(const ElementFormat& format, const std::uint8_t* codes, WideType type, void* values,
            std::size_t n, const Execution& execution = {});

/// Converts `n` elements of a narrow format, bf16 or f16 exactly to `type`: f32, or, from a narrow
/// format, also bf16.
void widen(const ElementFormat& format, const void* elements, WideType type, void* values,
           std::size_t n, const Execution& execution = {});

} // namespace octavo::kernels
