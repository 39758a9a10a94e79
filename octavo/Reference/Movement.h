// Kernels of the data movement family: elements change places and keep their codes.
#pragma once

#include "octavo/Reference/Elements.h"

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::reference {

/// Row-major strides of a shape, in elements.
std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> shape);

/// Steps a row-major index on by one; false when it wraps around to zero.
bool nextIndex(std::vector<std::int64_t>& index, std::span<const std::int64_t> shape);

/// result[i] = tensor element number base + sum over axes of i[axis] * strides[axis]. Every such
/// number must lie in the tensor.
Tensor pick(const Tensor& tensor, std::vector<std::int64_t> shape, std::int64_t base,
            std::span<const std::int64_t> strides);

Tensor transpose(const Tensor& tensor, std::span<const std::int64_t> permutation);

/// The shape of the result is `shape`; axis i of the operand is axis dimensions[i] of it.
Tensor broadcastInDim(const Tensor& tensor, std::vector<std::int64_t> shape,
                      std::span<const std::int64_t> dimensions);

/// A rank 0 tensor at every place of `shape`.
Tensor broadcastScalar(const Tensor& scalar, std::vector<std::int64_t> shape);

Tensor reshape(const Tensor& tensor, std::vector<std::int64_t> shape);

Tensor slice(const Tensor& tensor, std::span<const std::int64_t> start,
             std::span<const std::int64_t> limit, std::span<const std::int64_t> strides);

/// The axes `dimensions` run backwards.
Tensor reverse(const Tensor& tensor, std::span<const std::int64_t> dimensions);

/// `shape` is the result's. Negative edges cut elements off.
Tensor pad(const Tensor& tensor, const Tensor& value, std::vector<std::int64_t> shape,
           std::span<const std::int64_t> low, std::span<const std::int64_t> interior);

Tensor concatenate(std::span<const Tensor* const> inputs, std::vector<std::int64_t> shape,
                   std::int64_t dimension);

/// Index along `dimension`, converted to `type` (rounded once, or wrapped).
Tensor iota(const ElementType& type, std::vector<std::int64_t> shape, std::int64_t dimension);

/// Dimension numbers of stablehlo.gather, as the specification names them.
struct GatherDimensions {
  std::vector<std::int64_t> offsetDims, collapsedSliceDims;
  std::vector<std::int64_t> operandBatchingDims, startIndicesBatchingDims;
  std::vector<std::int64_t> startIndexMap;
  std::int64_t indexVectorDim = 0;
};

/// stablehlo.gather: start indices are clamped so that each slice lies in the operand.
Tensor gather(const Tensor& operand, const Tensor& startIndices, const GatherDimensions& dimensions,
              std::span<const std::int64_t> sliceSizes, std::vector<std::int64_t> shape);

} // namespace octavo::reference
