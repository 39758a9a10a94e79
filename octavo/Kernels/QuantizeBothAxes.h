// Two scaled copies of one tensor, with blocks along its last two axes, as training needs them: the
// rowwise copy for a product over its columns; the columnwise copy, often transposed, for a product
// over its rows.
#pragma once

#include "octavo/Kernels/Quantize.h"

namespace octavo::kernels {

/// The type and the outputs of one copy, as in kernels::quantize.
struct ScaledCopy {
  ScaledType type; ///< its block extent is 1 on every axis before the last two
  std::uint8_t* codes;
  void* scales;
  std::span<const std::uint32_t> randomBits = {}; ///< in the order of `values` in both layouts
  std::optional<numerics::OuterScale> outer = {}; ///< a given outer scale, as in quantizeUnder
};

/// How the columnwise copy lies in memory.
enum class Layout : std::uint8_t {
  RowMajor,
  Transposed, ///< codes and scales are row-major after the last two axes were exchanged
};

struct BothAxesReport {
  QuantizeReport rowwise, columnwise;
};

/// Quantizes a row-major tensor of at least two axes twice. Each copy has the bits of
/// numerics::quantize of the tensor; the columnwise copy is then laid out as `columnwiseLayout`
/// says. The tensor is read once, or twice if a scale of the whole tensor must be known first.
///
/// That holds for blocks of a power of two up to 256 along the last axis and up to 256 along the
/// last axis but one; the temporary memory then does not grow with the tensor. With other blocks,
/// the copies are made one after the other, a transposed copy by rows of blocks.
BothAxesReport quantizeBothAxes(const float* values, std::span<const std::int64_t> shape,
                                const QuantizeOptions& options, const ScaledCopy& rowwise,
                                const ScaledCopy& columnwise, Layout columnwiseLayout,
                                const Execution& execution = {});

/// Makes only the columnwise copy, transposed.
QuantizeReport quantizeTransposed(const float* values, std::span<const std::int64_t> shape,
                                  const QuantizeOptions& options, const ScaledCopy& copy,
                                  const Execution& execution = {});

} // namespace octavo::kernels
