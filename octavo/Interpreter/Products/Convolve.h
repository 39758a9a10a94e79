// Convolution of plain tensors: dot products of patches of the input with the kernel.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>
#include <vector>

namespace octavo::interpreter {

/// The window on one spatial axis.
struct ConvolvedAxis {
  std::int64_t stride = 1, low = 0, high = 0, lhsDilation = 1, rhsDilation = 1;
  bool isReversed = false;
};

/// The meaning of the axes of input, kernel and output, and the window on each spatial axis.
struct ConvolutionShape {
  std::int64_t inputBatch, inputFeature;
  std::vector<std::int64_t> inputSpatial;
  std::int64_t kernelInput, kernelOutput;
  std::vector<std::int64_t> kernelSpatial;
  std::int64_t outputBatch, outputFeature;
  std::vector<std::int64_t> outputSpatial;
  std::vector<ConvolvedAxis> window;
  std::int64_t featureGroups = 1, batchGroups = 1;
};

/// The shape of the result. An extent is negative if negative padding removes more elements than
/// there are.
std::vector<std::int64_t> convolvedShape(std::span<const std::int64_t> lhs,
                                         std::span<const std::int64_t> rhs,
                                         const ConvolutionShape& shape);

/// Each element of the result is a dot product (rule I12) over the kernel's positions in row-major
/// order, and at each position over the input features. Padding is multiplied like any other zero.
Tensor convolve(const Tensor& lhs, const Tensor& rhs, const ConvolutionShape& shape,
                const ElementType& result);

} // namespace octavo::interpreter
