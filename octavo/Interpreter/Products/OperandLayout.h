// Where the elements of a dot's operand lie, seen as [batch][free][contracted].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Axes of a dot_general. Each list pairs an axis of one side with the same entry of the other.
struct DotDimensions {
  std::vector<std::int64_t> lhsBatch, rhsBatch;
  std::vector<std::int64_t> lhsContracting, rhsContracting;
};

/// The element at (b, f, k) lies at batch[b] + free[f] + contracted[k] in row-major order. Each
/// list runs over the row-major index of its axes: batch and contracted axes in the order of the
/// dot's dimension numbers, free axes in their own order.
struct OperandLayout {
  std::vector<std::int64_t> batch, free, contracted;
};

/// Layout of an operand of `shape` on the grid of its blocks: with `block` all ones the offsets are
/// of elements, else of the block that the element lies in (row-major in format::scaleShape).
OperandLayout operandLayout(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> block,
                            std::span<const std::int64_t> batchAxes,
                            std::span<const std::int64_t> contractedAxes);

/// Shape of a dot's result: batch axes, free axes of the left, free axes of the right.
std::vector<std::int64_t> dotShape(std::span<const std::int64_t> lhs,
                                   std::span<const std::int64_t> rhs,
                                   const DotDimensions& dimensions);

/// Whether the axes that go together, batching and contracting, have one extent each.
bool haveEqualPairs(std::span<const std::int64_t> lhs, std::span<const std::int64_t> rhs,
                    const DotDimensions& dimensions);

} // namespace octavo::interpreter
