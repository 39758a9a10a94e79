// What XLA's block scaling custom calls compute (rule I15): elements and scales as two tensors,
// blocks along the last axis.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <string>

namespace octavo::interpreter {

struct ElementsAndScales {
  Tensor elements, scales;
};

/// `__op$quantize`. x: [.., K] float; scaleShape: [.., K / b]. For each block, with all operations
/// in the type of x: scale = amax / 2^emax(element), converted to `scale`; element = x / scale,
/// converted to `element`. Nothing is clamped. Requires K to be a multiple of the number of blocks.
ElementsAndScales quantizeBlocks(const Tensor& x, const ElementFormat& element,
                                 const ElementFormat& scale,
                                 const std::vector<std::int64_t>& scaleShape);

/// `__op$dequantize`: element and scale converted to `result`, multiplied in it. An axis of the
/// scales may be longer than needed (padding, never read). Requires that
/// scalesMisfit finds nothing.
Tensor dequantizeBlocks(const Tensor& elements, const Tensor& scales, std::int64_t blockSize,
                        const ElementFormat& result);

/// What keeps `scales` from scaling `elements` in blocks of `blockSize` on the last axis; empty if
/// nothing does.
std::string scalesMisfit(const Tensor& elements, const Tensor& scales, std::int64_t blockSize);

} // namespace octavo::interpreter
