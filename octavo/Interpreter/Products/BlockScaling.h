// The computations of XLA's block scaling custom calls (rule I15): elements and scales are two
// tensors, with blocks along the last axis.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <string>

namespace octavo::interpreter {

/// A block-scaled tensor.
struct ElementsAndScales {
  Tensor elements, scales;
};

/// `__op$quantize`. x: [.., K] float; scaleShape: [.., K / b]. For each block, with all operations
/// in the type of x: scale = amax / 2^emax(element), converted to `scale`; element = x / scale,
/// converted to `element`. Nothing is clamped. K must be a multiple of the number of blocks.
ElementsAndScales quantizeBlocks(const Tensor& x, const ElementFormat& element,
                                 const ElementFormat& scale,
                                 const std::vector<std::int64_t>& scaleShape);

/// `__op$dequantize`: converts element and scale to `result` and multiplies them in that format. An
/// axis of the scales may be longer than needed; the padding is not read. scalesMisfit must be
/// empty.
Tensor dequantizeBlocks(const Tensor& elements, const Tensor& scales, std::int64_t blockSize,
                        const ElementFormat& result);

/// Why `scales` do not fit `elements` in blocks of `blockSize` on the last axis; empty if they do.
std::string scalesMisfit(const Tensor& elements, const Tensor& scales, std::int64_t blockSize);

} // namespace octavo::interpreter
