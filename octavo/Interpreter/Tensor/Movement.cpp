#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/Axes.h"

#include "octavo/Interpreter/Tensor/Conversions.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

template <typename Container>
void pickElements(const Tensor& tensor, Tensor& result, std::int64_t base,
                  std::span<const std::int64_t> strides) {
  const auto source = tensor.as<Container>();
  const auto target = result.as<Container>();
  const std::size_t rank = result.shape.size();
  const std::int64_t inner = rank == 0 ? 1 : result.shape.back();
  const std::int64_t step = rank == 0 ? 0 : strides.back();
  const std::span<const std::int64_t> outerShape(result.shape.data(), rank == 0 ? 0 : rank - 1);
  std::vector<std::int64_t> index(outerShape.size(), 0);
  std::int64_t written = 0;
  do {
    std::int64_t offset = base;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * strides[axis];
    for (std::int64_t i = 0; i < inner; ++i)
      target[written++] = source[offset + i * step];
  } while (nextIndex(index, outerShape));
}

} // namespace

std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

bool nextIndex(std::vector<std::int64_t>& index, std::span<const std::int64_t> shape) {
  for (std::size_t axis = index.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis])
      return true;
    index[axis] = 0;
  }
  return false;
}

std::vector<std::int64_t> keptShape(std::span<const std::int64_t> shape,
                                    std::span<const std::int64_t> reduced) {
  std::vector<std::int64_t> kept;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (!contains(reduced, static_cast<std::int64_t>(axis)))
      kept.push_back(shape[axis]);
  return kept;
}

std::vector<std::int64_t> keptStrides(std::span<const std::int64_t> shape,
                                      std::span<const std::int64_t> reduced) {
  const std::vector<std::int64_t> kept = rowMajorStrides(keptShape(shape, reduced));
  std::vector<std::int64_t> strides;
  for (std::size_t axis = 0, next = 0; axis < shape.size(); ++axis)
    strides.push_back(contains(reduced, static_cast<std::int64_t>(axis)) ? 0 : kept[next++]);
  return strides;
}

Tensor pick(const Tensor& tensor, std::vector<std::int64_t> shape, std::int64_t base,
            std::span<const std::int64_t> strides) {
  Tensor result = Tensor::zeros(tensor.type, std::move(shape));
  if (result.size() == 0)
    return result;
  withContainer(tensor.type, [&]<typename Container>(Container) {
    pickElements<Container>(tensor, result, base, strides);
  });
  return result;
}

Tensor transpose(const Tensor& tensor, std::span<const std::int64_t> permutation) {
  const std::vector<std::int64_t> from = rowMajorStrides(tensor.shape);
  std::vector<std::int64_t> shape, strides;
  for (std::int64_t axis : permutation) {
    shape.push_back(tensor.shape[axis]);
    strides.push_back(from[axis]);
  }
  return pick(tensor, std::move(shape), 0, strides);
}

Tensor broadcastInDim(const Tensor& tensor, std::vector<std::int64_t> shape,
                      std::span<const std::int64_t> dimensions) {
  const std::vector<std::int64_t> from = rowMajorStrides(tensor.shape);
  std::vector<std::int64_t> strides(shape.size(), 0);
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis)
    if (tensor.shape[axis] != 1)
      strides[dimensions[axis]] = from[axis];
  return pick(tensor, std::move(shape), 0, strides);
}

Tensor broadcastScalar(const Tensor& scalar, std::vector<std::int64_t> shape) {
  return broadcastInDim(scalar, std::move(shape), {});
}

Tensor reshape(Tensor tensor, std::vector<std::int64_t> shape) {
  return {std::move(tensor.type), std::move(shape), std::move(tensor.bytes)};
}

Tensor slice(const Tensor& tensor, std::span<const std::int64_t> start,
             std::span<const std::int64_t> limit, std::span<const std::int64_t> strides) {
  const std::vector<std::int64_t> from = rowMajorStrides(tensor.shape);
  std::vector<std::int64_t> shape, steps;
  std::int64_t base = 0;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const std::int64_t span = limit[axis] - start[axis];
    shape.push_back(span == 0 ? 0 : (span - 1) / strides[axis] + 1);
    steps.push_back(shape.back() > 1 ? strides[axis] * from[axis] : 0);
    base += start[axis] * from[axis];
  }
  return pick(tensor, std::move(shape), base, steps);
}

Tensor reverse(const Tensor& tensor, std::span<const std::int64_t> dimensions) {
  std::vector<std::int64_t> strides = rowMajorStrides(tensor.shape);
  std::int64_t base = 0;
  for (std::int64_t axis : dimensions) {
    base += (tensor.shape[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return pick(tensor, tensor.shape, base, strides);
}

std::optional<std::vector<std::int64_t>> paddedShape(std::span<const std::int64_t> shape,
                                                     std::span<const std::int64_t> low,
                                                     std::span<const std::int64_t> high,
                                                     std::span<const std::int64_t> interior) {
  std::vector<std::int64_t> padded;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t extent = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(shape[axis] - 1, 0), interior[axis],
                               &extent) ||
        __builtin_add_overflow(extent, shape[axis], &extent) ||
        __builtin_add_overflow(extent, low[axis], &extent) ||
        __builtin_add_overflow(extent, high[axis], &extent) || extent < 0)
      return std::nullopt;
    padded.push_back(extent);
  }
  return padded;
}

Tensor pad(const Tensor& tensor, const Tensor& value, std::span<const std::int64_t> low,
           std::span<const std::int64_t> high, std::span<const std::int64_t> interior) {
  Tensor result = broadcastScalar(value, *paddedShape(tensor.shape, low, high, interior));
  if (tensor.size() == 0)
    return result;
  const std::vector<std::int64_t> to = rowMajorStrides(result.shape);
  withContainer(tensor.type, [&]<typename Container>(Container) {
    const auto source = tensor.as<Container>();
    const auto target = result.as<Container>();
    std::vector<std::int64_t> index(tensor.shape.size(), 0);
    std::int64_t read = 0;
    do {
      std::int64_t offset = 0;
      bool isInside = true;
      for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const std::int64_t at = low[axis] + index[axis] + index[axis] * interior[axis];
        isInside &= at >= 0 && at < result.shape[axis];
        offset += isInside ? at * to[axis] : 0;
      }
      if (isInside)
        target[offset] = source[read];
      ++read;
    } while (nextIndex(index, tensor.shape));
  });
  return result;
}

Tensor concatenate(std::span<const Tensor* const> inputs, std::int64_t dimension) {
  std::vector<std::int64_t> shape = inputs.front()->shape;
  shape[dimension] = 0;
  for (const Tensor* input : inputs)
    shape[dimension] += input->shape[dimension];
  Tensor result = Tensor::zeros(inputs.front()->type, std::move(shape));
  std::int64_t outer = 1, inner = result.type.bytes();
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(result.shape.size()); ++axis)
    (axis < dimension ? outer : inner) *= axis == dimension ? 1 : result.shape[axis];
  std::int64_t written = 0;
  for (std::int64_t i = 0; i < outer; ++i)
    for (const Tensor* input : inputs) {
      const std::int64_t run = input->shape[dimension] * inner;
      std::copy_n(input->bytes.begin() + i * run, run, result.bytes.begin() + written);
      written += run;
    }
  return result;
}

Tensor select(const Tensor& predicate, const Tensor& onTrue, Tensor onFalse) {
  const auto chosen = predicate.as<std::uint8_t>();
  withContainer(onTrue.type, [&]<typename Container>(Container) {
    const auto source = onTrue.as<Container>();
    const auto target = onFalse.as<Container>();
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] = chosen[i] != 0 ? source[i] : target[i];
  });
  return onFalse;
}

Tensor iota(const ElementType& type, std::vector<std::int64_t> shape, std::int64_t dimension) {
  if (numerics::elementCount(shape) == 0)
    return Tensor::zeros(type, std::move(shape));
  const std::vector<std::int64_t> line{shape[dimension]};
  std::vector<std::uint64_t> indices(static_cast<std::size_t>(line.front()));
  for (std::size_t i = 0; i < indices.size(); ++i)
    indices[i] = i;
  const Tensor counted =
      convertElements(encodeIntegers(IntegerType{64, false}, line, indices), type);
  const std::int64_t axes[] = {dimension};
  return broadcastInDim(counted, std::move(shape), axes);
}

std::vector<std::int64_t> gatheredShape(std::span<const std::int64_t> startIndices,
                                        const GatherDimensions& dimensions,
                                        std::span<const std::int64_t> sliceSizes) {
  std::vector<std::int64_t> batch, offset;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(startIndices.size()); ++axis)
    if (axis != dimensions.indexVectorDim)
      batch.push_back(startIndices[axis]);
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(sliceSizes.size()); ++axis)
    if (!contains(dimensions.collapsedSliceDims, axis) &&
        !contains(dimensions.operandBatchingDims, axis))
      offset.push_back(sliceSizes[axis]);
  std::vector<std::int64_t> shape;
  auto nextBatch = batch.begin(), nextOffset = offset.begin();
  for (std::size_t axis = 0; axis < batch.size() + offset.size(); ++axis)
    shape.push_back(contains(dimensions.offsetDims, static_cast<std::int64_t>(axis))
                        ? *nextOffset++
                        : *nextBatch++);
  return shape;
}

Tensor gather(const Tensor& operand, const Tensor& startIndices, const GatherDimensions& dimensions,
              std::span<const std::int64_t> sliceSizes) {
  Tensor result =
      Tensor::zeros(operand.type, gatheredShape(startIndices.shape, dimensions, sliceSizes));
  if (result.size() == 0)
    return result;
  const std::vector<std::uint64_t> starts = decodeIntegers(startIndices);
  const std::vector<std::int64_t> operandStrides = rowMajorStrides(operand.shape);
  const std::vector<std::int64_t> startStrides = rowMajorStrides(startIndices.shape);
  const auto startRank = static_cast<std::int64_t>(startIndices.shape.size());
  // An index_vector_dim equal to the rank stands for a trailing axis of extent 1.
  const std::int64_t vectorStride =
      dimensions.indexVectorDim < startRank ? startStrides[dimensions.indexVectorDim] : 0;

  std::vector<std::int64_t> batchDims, offsetOperandDims;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(result.shape.size()); ++axis)
    if (!contains(dimensions.offsetDims, axis))
      batchDims.push_back(axis);
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(operand.shape.size()); ++axis)
    if (!contains(dimensions.collapsedSliceDims, axis) &&
        !contains(dimensions.operandBatchingDims, axis))
      offsetOperandDims.push_back(axis);
  // For each batch axis of the result, the axis of the start indices: all but the index vector's.
  std::vector<std::int64_t> startAxes;
  for (std::int64_t axis = 0; axis < startRank; ++axis)
    if (axis != dimensions.indexVectorDim)
      startAxes.push_back(axis);

  // Calls visit(i, offset) for each element i of the result; offset is its element in the operand.
  const auto forEachElement = [&](auto visit) {
    std::vector<std::int64_t> index(result.shape.size(), 0);
    std::vector<std::int64_t> at(operand.shape.size());
    std::int64_t written = 0;
    do {
      std::int64_t start = 0;
      for (std::size_t i = 0; i < batchDims.size(); ++i)
        start += index[batchDims[i]] * startStrides[startAxes[i]];
      std::fill(at.begin(), at.end(), 0);
      for (std::size_t i = 0; i < dimensions.startIndexMap.size(); ++i) {
        const std::int64_t axis = dimensions.startIndexMap[i];
        const std::uint64_t raw = starts[start + static_cast<std::int64_t>(i) * vectorStride];
        const std::int64_t last = operand.shape[axis] - sliceSizes[axis];
        at[axis] = isNegative(startIndices.type.integer(), raw) ? 0
                   : raw > static_cast<std::uint64_t>(last)     ? last
                                                                : static_cast<std::int64_t>(raw);
      }
      for (std::size_t i = 0; i < dimensions.operandBatchingDims.size(); ++i) {
        const std::int64_t startAxis = dimensions.startIndicesBatchingDims[i];
        const std::int64_t position = startAxis - (dimensions.indexVectorDim < startAxis ? 1 : 0);
        at[dimensions.operandBatchingDims[i]] = index[batchDims[position]];
      }
      for (std::size_t i = 0; i < offsetOperandDims.size(); ++i)
        at[offsetOperandDims[i]] += index[dimensions.offsetDims[i]];
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        offset += at[axis] * operandStrides[axis];
      visit(written++, offset);
    } while (nextIndex(index, result.shape));
  };
  withContainer(operand.type, [&]<typename Container>(Container) {
    const auto source = operand.as<Container>();
    const auto target = result.as<Container>();
    forEachElement([&](std::int64_t i, std::int64_t offset) { target[i] = source[offset]; });
  });
  return result;
}

} // namespace octavo::interpreter
