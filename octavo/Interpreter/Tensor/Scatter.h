// Kernels of operations that write at indices from data.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Dimension numbers of stablehlo.scatter, as the specification names them.
struct ScatterDimensions {
  std::vector<std::int64_t> updateWindowDims, insertedWindowDims;
  std::vector<std::int64_t> inputBatchingDims, scatterIndicesBatchingDims;
  std::vector<std::int64_t> scatterDimsToOperandDims;
  std::int64_t indexVectorDim = 0;
};

/// For each element of the updates, in row-major order, the number of the input's element that it
/// updates; -1 if the index is outside the input.
std::vector<std::int64_t> scatterPlaces(std::span<const std::int64_t> input,
                                        const Tensor& scatterIndices,
                                        std::span<const std::int64_t> updates,
                                        const ScatterDimensions& dimensions);

/// For each i in order: target[places[i]] = updates[i]. Negative places are skipped.
void overwrite(Tensor& target, const Tensor& updates, std::span<const std::int64_t> places);

/// Start indices (rank 0 integer tensors), clamped so that a slice of `sizes` is inside `shape`.
std::vector<std::int64_t> clampedStarts(std::span<const Tensor* const> starts,
                                        std::span<const std::int64_t> shape,
                                        std::span<const std::int64_t> sizes);

/// Writes `update` into `target` at `start`. It must fit.
void updateSlice(Tensor& target, const Tensor& update, std::span<const std::int64_t> start);

} // namespace octavo::interpreter
