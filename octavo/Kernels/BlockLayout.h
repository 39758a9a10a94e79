// The blocks of a tensor with as few axes as possible, for kernels.
#pragma once

#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace octavo::kernels {

/// The number of blocks of a tensor: the product of format::scaleShape.
std::int64_t blocksOf(std::span<const std::int64_t> shape, std::span<const std::int64_t> block);

/// Row-major extents and block extents after adjacent axes were merged. Merging changes neither the
/// index of an element nor that of its block. Consecutive rows of whole blocks become one long row;
/// an axis inside one block is merged into the axis before it. No axis has extent 1.
class BlockLayout {
public:
  /// All extents of `shape` and `block` are at least 1.
  BlockLayout(std::span<const std::int64_t> shape, std::span<const std::int64_t> block);

  std::size_t rank() const { return axes.size(); }
  /// Extent and block extent of an axis, counted from the last: 0 is the innermost axis. Both are 1
  /// beyond the rank.
  std::size_t extent(std::size_t fromLast) const { return at(fromLast).extent; }
  std::size_t block(std::size_t fromLast) const { return at(fromLast).block; }

  std::size_t size() const { return elements; }
  std::size_t blockCount() const { return gridSize; }

  /// Whether every axis before the last `inner` ones has blocks of 1.
  bool isBlockedOnlyWithin(std::size_t inner) const;

  /// Blocks that differ only in their index on the last axis form a group: they share their rows.
  std::size_t blocksInGroup() const { return at(0).blocks; }
  std::size_t groupCount() const { return gridSize / blocksInGroup(); }
  /// Calls use(offset) with the offset of each row of the group's blocks, in order.
  template <typename Use> void forRows(std::size_t group, const Use& use) const {
    forRowsOf(group, std::cref(use));
  }

  /// Calls use(offset, size) with each contiguous segment of block `index` (row-major in the grid),
  /// in order.
  template <typename Use> void forSegments(std::size_t index, const Use& use) const {
    const std::size_t begin = index % blocksInGroup() * block(0);
    const std::size_t size = std::min(block(0), extent(0) - begin);
    forRows(index / blocksInGroup(), [&](std::size_t row) { use(row + begin, size); });
  }

private:
  void forRowsOf(std::size_t group, const std::function<void(std::size_t offset)>& use) const;

  struct Axis {
    std::size_t extent = 1;
    std::size_t block = 1;
    std::size_t blocks = 1; ///< number of blocks along the axis
    std::size_t stride = 0; ///< elements
  };

  Axis at(std::size_t fromLast) const {
    return fromLast < axes.size() ? axes[axes.size() - 1 - fromLast] : Axis{};
  }

  ThreadVector<Axis> axes;
  std::size_t elements = 1, gridSize = 1;
};

} // namespace octavo::kernels
