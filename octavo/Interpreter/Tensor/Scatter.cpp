#include "octavo/Interpreter/Tensor/Scatter.h"
#include "octavo/Interpreter/Tensor/Axes.h"

#include <algorithm>
#include <cstring>

namespace octavo::interpreter {

std::vector<std::int64_t> scatterPlaces(std::span<const std::int64_t> input,
                                        const Tensor& scatterIndices,
                                        std::span<const std::int64_t> updates,
                                        const ScatterDimensions& dimensions) {
  const std::int64_t count = numerics::elementCount(updates);
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  if (count == 0)
    return places;
  const IntegerType type = scatterIndices.type.integer();
  const std::vector<std::uint64_t> numbers = decodeIntegers(scatterIndices);
  const std::vector<std::int64_t> strides = rowMajorStrides(input);
  const std::vector<std::int64_t> indexStrides = rowMajorStrides(scatterIndices.shape);
  const auto indexRank = static_cast<std::int64_t>(scatterIndices.shape.size());
  const std::int64_t vectorStride =
      dimensions.indexVectorDim < indexRank ? indexStrides[dimensions.indexVectorDim] : 0;

  // The effect of a step along each axis of the updates. A window axis moves along an axis of the
  // input. Any other axis moves along an axis of the indices, and, if it is a batching axis, also
  // along one of the input.
  struct Axis {
    std::int64_t inputAxis = -1;
    std::int64_t indexStride = 0;
  };
  std::vector<Axis> axes(updates.size());
  std::vector<std::int64_t> windowAxes, indexAxes;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(input.size()); ++axis)
    if (!contains(dimensions.insertedWindowDims, axis) &&
        !contains(dimensions.inputBatchingDims, axis))
      windowAxes.push_back(axis);
  for (std::int64_t axis = 0; axis < indexRank; ++axis)
    if (axis != dimensions.indexVectorDim)
      indexAxes.push_back(axis);
  std::size_t nextWindow = 0, nextIndexAxis = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (contains(dimensions.updateWindowDims, static_cast<std::int64_t>(i))) {
      axes[i].inputAxis = windowAxes[nextWindow++];
      continue;
    }
    const std::int64_t axis = indexAxes[nextIndexAxis++];
    axes[i].indexStride = indexStrides[axis];
    const auto& batching = dimensions.scatterIndicesBatchingDims;
    const auto found = std::find(batching.begin(), batching.end(), axis);
    if (found != batching.end())
      axes[i].inputAxis = dimensions.inputBatchingDims[found - batching.begin()];
  }

  std::vector<std::int64_t> index(updates.size(), 0);
  std::vector<std::int64_t> at(input.size());
  std::size_t written = 0;
  do {
    std::fill(at.begin(), at.end(), 0);
    std::int64_t vector = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].inputAxis >= 0)
        at[axes[i].inputAxis] += index[i];
      vector += index[i] * axes[i].indexStride;
    }
    bool isInside = true;
    for (std::size_t i = 0; i < dimensions.scatterDimsToOperandDims.size(); ++i) {
      const std::int64_t axis = dimensions.scatterDimsToOperandDims[i];
      const std::uint64_t number = numbers[vector + static_cast<std::int64_t>(i) * vectorStride];
      // Compared before adding: the sum of huge numbers must not wrap into the tensor.
      if (isNegative(type, number)) {
        const auto below = static_cast<std::int64_t>(number);
        isInside &= below >= -at[axis];
        at[axis] = isInside ? at[axis] + below : 0;
      } else {
        isInside &= number < static_cast<std::uint64_t>(input[axis]);
        at[axis] = isInside ? at[axis] + static_cast<std::int64_t>(number) : 0;
      }
    }
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      isInside &= at[axis] < input[axis];
      place += at[axis] * strides[axis];
    }
    places[written++] = isInside ? place : -1;
  } while (nextIndex(index, updates));
  return places;
}

void overwrite(Tensor& target, const Tensor& updates, std::span<const std::int64_t> places) {
  withContainer(target.type, [&]<typename Container>(Container) {
    const auto from = updates.as<Container>();
    const auto to = target.as<Container>();
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0)
        to[places[i]] = from[i];
  });
}

std::vector<std::int64_t> clampedStarts(std::span<const Tensor* const> starts,
                                        std::span<const std::int64_t> shape,
                                        std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> clamped;
  for (std::size_t axis = 0; axis < starts.size(); ++axis) {
    const IntegerType type = starts[axis]->type.integer();
    const std::uint64_t number = extend(type, starts[axis]->code(0));
    const std::int64_t last = shape[axis] - sizes[axis];
    clamped.push_back(isNegative(type, number) ? 0
                      : number > static_cast<std::uint64_t>(last)
                          ? last
                          : static_cast<std::int64_t>(number));
  }
  return clamped;
}

void updateSlice(Tensor& target, const Tensor& update, std::span<const std::int64_t> start) {
  if (update.size() == 0)
    return;
  const std::size_t rank = target.shape.size();
  const std::vector<std::int64_t> strides = rowMajorStrides(target.shape);
  const std::int64_t width = target.type.bytes();
  const std::int64_t run = (rank == 0 ? 1 : update.shape.back()) * width;
  const std::span<const std::int64_t> outer(update.shape.data(), rank == 0 ? 0 : rank - 1);
  std::vector<std::int64_t> index(outer.size(), 0);
  std::int64_t base = 0, read = 0;
  for (std::size_t axis = 0; axis < rank; ++axis)
    base += start[axis] * strides[axis];
  do {
    std::int64_t offset = base;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * strides[axis];
    std::memcpy(target.bytes.data() + offset * width, update.bytes.data() + read,
                static_cast<std::size_t>(run));
    read += run;
  } while (nextIndex(index, outer));
}

} // namespace octavo::interpreter
