// The offsets of a dot's operand as a tensor [batch][free][contracted].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// The axes of a dot_general. Entry i of a list for lhs is paired with entry i of the list for rhs.
struct DotDimensions {
  std::vector<std::int64_t> lhsBatch, rhsBatch;
  std::vector<std::int64_t> lhsContracting, rhsContracting;
};

/// The element at (b, f, k) has the row-major offset batch[b] + free[f] + contracted[k]. Each list
/// runs over the row-major index of its axes: batch and contracted axes in the order of the
/// dimension numbers, free axes in the operand's order.
struct OperandLayout {
  std::vector<std::int64_t> batch, free, contracted;
};

/// The layout of an operand of `shape` on the grid of its blocks. If `block` is all ones, offsets
/// are of elements; else of the element's block, row-major in format::scaleShape.
OperandLayout operandLayout(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> block,
                            std::span<const std::int64_t> batchAxes,
                            std::span<const std::int64_t> contractedAxes);

/// The shape of a dot's result: batch axes, free axes of lhs, free axes of rhs.
std::vector<std::int64_t> dotShape(std::span<const std::int64_t> lhs,
                                   std::span<const std::int64_t> rhs,
                                   const DotDimensions& dimensions);

/// Whether paired batching and contracting axes have equal extents.
bool haveEqualPairs(std::span<const std::int64_t> lhs, std::span<const std::int64_t> rhs,
                    const DotDimensions& dimensions);

} // namespace octavo::interpreter
