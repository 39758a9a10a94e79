// Scaled copies of one tensor along its last two axes, as training needs them: the rowwise copy for
// a product over its columns, the columnwise one, often transposed, for a product over its rows.
#pragma once

#include "octavo/Kernels/Quantize.h"

namespace octavo::kernels {

/// Where a quantization goes, as kernels::quantize says of the same arguments.
struct ScaledCopy {
  ScaledType type; ///< with blocks of one on every axis before the last two
  std::uint8_t* codes;
  void* scales;
  std::span<const std::uint32_t> randomBits = {}; ///< in the order of the values, always
  std::optional<numerics::OuterScale> outer = {}; ///< one that is given, as quantizeUnder has it
};

/// How the columnwise copy lies in memory.
enum class Layout : std::uint8_t {
  RowMajor,
  Transposed, ///< codes and scales are row-major of the tensor with its last two axes exchanged
};

struct BothAxesReport {
  QuantizeReport rowwise, columnwise;
};

/// Quantizes a row-major tensor of at least two axes twice, in one reading of it (two where a scale
/// of the whole tensor must be known first): each copy is numerics::quantize of the tensor as
/// given, bit for bit, the columnwise one then laid out as asked. For blocks along the last axis (a
/// power of two, at most 256) and along the last but one (at most 256) the memory it takes for
/// itself does not grow with the tensor; other blocks go one copy after the other, a transposed one
/// by rows of blocks.
BothAxesReport quantizeBothAxes(const float* values, std::span<const std::int64_t> shape,
                                const QuantizeOptions& options, const ScaledCopy& rowwise,
                                const ScaledCopy& columnwise, Layout columnwiseLayout,
                                const Execution& execution = {});

/// The columnwise copy alone, transposed.
QuantizeReport quantizeTransposed(const float* values, std::span<const std::int64_t> shape,
                                  const QuantizeOptions& options, const ScaledCopy& copy,
                                  const Execution& execution = {});

} // namespace octavo::kernels
