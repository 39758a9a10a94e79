// Kernels of the data movement family: they move elements and do not change their codes.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Row-major strides of a shape, in elements.
std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> shape);

/// Increments a row-major index; returns false when it wraps around to zero.
bool nextIndex(std::vector<std::int64_t>& index, std::span<const std::int64_t> shape);

/// The extents of `shape` on the axes that are not in `reduced`.
std::vector<std::int64_t> keptShape(std::span<const std::int64_t> shape,
                                    std::span<const std::int64_t> reduced);

/// Strides that map an index of `shape` to the element of keptShape: 0 on the axes `reduced`.
std::vector<std::int64_t> keptStrides(std::span<const std::int64_t> shape,
                                      std::span<const std::int64_t> reduced);

/// result[i] = element number base + sum over axes of i[axis] * strides[axis] of `tensor`. Each
/// such number must be in the tensor.
Tensor pick(const Tensor& tensor, std::vector<std::int64_t> shape, std::int64_t base,
            std::span<const std::int64_t> strides);

/// Axis i of the result is axis permutation[i] of the operand.
Tensor transpose(const Tensor& tensor, std::span<const std::int64_t> permutation);

/// Broadcasts to `shape`: axis i of the operand is axis dimensions[i] of the result.
Tensor broadcastInDim(const Tensor& tensor, std::vector<std::int64_t> shape,
                      std::span<const std::int64_t> dimensions);

/// Broadcasts a rank 0 tensor to `shape`.
Tensor broadcastScalar(const Tensor& scalar, std::vector<std::int64_t> shape);

/// The same elements in row-major order, with another shape of equal size.
Tensor reshape(Tensor tensor, std::vector<std::int64_t> shape);

/// The elements from `start` to before `limit`, every strides[axis]-th on each axis.
Tensor slice(const Tensor& tensor, std::span<const std::int64_t> start,
             std::span<const std::int64_t> limit, std::span<const std::int64_t> strides);

/// Reverses the axes `dimensions`.
Tensor reverse(const Tensor& tensor, std::span<const std::int64_t> dimensions);

/// The shape of a padded tensor: on each axis low + extent + high, and `interior` elements between
/// neighbours. nullopt if an extent is negative or does not fit 63 bits.
std::optional<std::vector<std::int64_t>> paddedShape(std::span<const std::int64_t> shape,
                                                     std::span<const std::int64_t> low,
                                                     std::span<const std::int64_t> high,
                                                     std::span<const std::int64_t> interior);

/// Pads with `value`, a rank 0 tensor. Negative edges remove elements. paddedShape must not be
/// nullopt.
Tensor pad(const Tensor& tensor, const Tensor& value, std::span<const std::int64_t> low,
           std::span<const std::int64_t> high, std::span<const std::int64_t> interior);

/// Concatenates at least one input along `dimension`, the only axis on which extents may differ.
Tensor concatenate(std::span<const Tensor* const> inputs, std::int64_t dimension);

/// onTrue[i] if predicate[i], else onFalse[i]. All tensors have one shape; the predicate is
/// boolean.
Tensor select(const Tensor& predicate, const Tensor& onTrue, Tensor onFalse);

/// Each element is its index along `dimension`, converted to `type` (rounded once, or wrapped).
Tensor iota(const ElementType& type, std::vector<std::int64_t> shape, std::int64_t dimension);

/// Dimension numbers of stablehlo.gather, as the specification names them.
struct GatherDimensions {
  std::vector<std::int64_t> offsetDims, collapsedSliceDims;
  std::vector<std::int64_t> operandBatchingDims, startIndicesBatchingDims;
  std::vector<std::int64_t> startIndexMap;
  std::int64_t indexVectorDim = 0;
};

/// The shape of the result: slice sizes on the offset axes, extents of the start indices on the
/// others.
std::vector<std::int64_t> gatheredShape(std::span<const std::int64_t> startIndices,
                                        const GatherDimensions& dimensions,
                                        std::span<const std::int64_t> sliceSizes);

/// stablehlo.gather. Start indices are clamped so that each slice is in the operand.
Tensor gather(const Tensor& operand, const Tensor& startIndices, const GatherDimensions& dimensions,
              std::span<const std::int64_t> sliceSizes);

} // namespace octavo::interpreter
