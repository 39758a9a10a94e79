#include "octavo/Interpreter/Products/OperandLayout.h"
#include "octavo/Interpreter/Tensor/Axes.h"

#include "octavo/Format/ScaledFormat.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

std::vector<std::int64_t> freeAxes(std::size_t rank, std::span<const std::int64_t> batch,
                                   std::span<const std::int64_t> contracted) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto a = static_cast<std::int64_t>(axis);
    if (!contains(batch, a) && !contains(contracted, a))
      axes.push_back(a);
  }
  return axes;
}

} // namespace

OperandLayout operandLayout(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> block,
                            std::span<const std::int64_t> batchAxes,
                            std::span<const std::int64_t> contractedAxes) {
  const std::vector<std::int64_t> grid = format::scaleShape(shape, block);
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * grid[axis];

  const auto offsets = [&](std::span<const std::int64_t> axes) {
    std::vector<std::int64_t> list{0};
    for (std::int64_t axis : axes) {
      std::vector<std::int64_t> next;
      next.reserve(list.size() * static_cast<std::size_t>(shape[axis]));
      for (std::int64_t base : list)
        for (std::int64_t i = 0; i < shape[axis]; ++i)
          next.push_back(base + i / block[axis] * strides[axis]);
      list = std::move(next);
    }
    return list;
  };
  return {offsets(batchAxes), offsets(freeAxes(shape.size(), batchAxes, contractedAxes)),
          offsets(contractedAxes)};
}

std::vector<std::int64_t> dotShape(std::span<const std::int64_t> lhs,
                                   std::span<const std::int64_t> rhs,
                                   const DotDimensions& dimensions) {
  std::vector<std::int64_t> shape;
  for (std::int64_t axis : dimensions.lhsBatch)
    shape.push_back(lhs[axis]);
  for (std::int64_t axis : freeAxes(lhs.size(), dimensions.lhsBatch, dimensions.lhsContracting))
    shape.push_back(lhs[axis]);
  for (std::int64_t axis : freeAxes(rhs.size(), dimensions.rhsBatch, dimensions.rhsContracting))
    shape.push_back(rhs[axis]);
  return shape;
}

bool haveEqualPairs(std::span<const std::int64_t> lhs, std::span<const std::int64_t> rhs,
                    const DotDimensions& dimensions) {
  const auto areEqual = [&](const std::vector<std::int64_t>& ours,
                            const std::vector<std::int64_t>& theirs) {
    return std::ranges::equal(ours, theirs, [&](std::int64_t l, std::int64_t r) {
      return lhs[static_cast<std::size_t>(l)] == rhs[static_cast<std::size_t>(r)];
    });
  };
  return areEqual(dimensions.lhsBatch, dimensions.rhsBatch) &&
         areEqual(dimensions.lhsContracting, dimensions.rhsContracting);
}

} // namespace octavo::interpreter
