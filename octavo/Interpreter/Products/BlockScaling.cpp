#include "octavo/Interpreter/Products/BlockScaling.h"

#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include <cmath>

namespace octavo::interpreter {

namespace {

/// Broadcasts the scales to the shape of the elements.
Tensor spreadScales(const Tensor& scales, const std::vector<std::int64_t>& shape,
                    std::int64_t blockSize) {
  Tensor result = Tensor::zeros(scales.type, shape);
  if (result.size() == 0)
    return result;
  const std::vector<std::int64_t> strides = rowMajorStrides(scales.shape);
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t i = 0;
  do {
    std::int64_t at = index.back() / blockSize;
    for (std::size_t axis = 0; axis + 1 < index.size(); ++axis)
      at += index[axis] * strides[axis];
    result.setCode(i++, scales.code(at));
  } while (nextIndex(index, shape));
  return result;
}

} // namespace

ElementsAndScales quantizeBlocks(const Tensor& x, const ElementFormat& element,
                                 const ElementFormat& scale,
                                 const std::vector<std::int64_t>& scaleShape) {
  const std::int64_t blocks = numerics::elementCount(scaleShape);
  const std::int64_t blockSize = blocks == 0 ? 1 : x.size() / blocks;
  const std::vector<double> values = decodeElements(x);
  std::vector<double> quotients(static_cast<std::size_t>(blocks));
  for (std::int64_t block = 0; block < blocks; ++block) {
    double amax = 0.0;
    for (std::int64_t k = 0; k < blockSize; ++k)
      amax = Maximum::real(amax, std::fabs(values[block * blockSize + k]));
    quotients[block] = std::ldexp(amax, -element.emax());
  }
  Tensor scales = convertElements(encodeElements(x.type.format(), scaleShape, quotients), scale);
  const Tensor divisor = spreadScales(convertElements(scales, x.type), x.shape, blockSize);
  Tensor elements = convertElements(map<Divide>(x, divisor).value(), element);
  return {std::move(elements), std::move(scales)};
}

Tensor dequantizeBlocks(const Tensor& elements, const Tensor& scales, std::int64_t blockSize,
                        const ElementFormat& result) {
  const Tensor factor = spreadScales(scales, elements.shape, blockSize);
  return map<Multiply>(convertElements(elements, result), convertElements(factor, result)).value();
}

std::string scalesMisfit(const Tensor& elements, const Tensor& scales, std::int64_t blockSize) {
  if (elements.shape.empty() || elements.shape.size() != scales.shape.size())
    return "elements and scales must have one rank of at least 1";
  if (blockSize < 1)
    return "the block size must be at least 1; it is " + std::to_string(blockSize);
  for (std::size_t axis = 0; axis < elements.shape.size(); ++axis) {
    const std::int64_t extent = elements.shape[axis];
    const std::int64_t needed =
        axis + 1 < elements.shape.size() ? extent : (extent + blockSize - 1) / blockSize;
    if (scales.shape[axis] < needed)
      return "axis " + std::to_string(axis) + " of the scales has " +
             std::to_string(scales.shape[axis]) + " entries; blocks of " +
             std::to_string(blockSize) + " need " + std::to_string(needed);
  }
  return {};
}

} // namespace octavo::interpreter
