// The blocks of a tensor as a kernel sees them: as few axes as say the same.
#pragma once

#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace octavo::kernels {

/// The blocks of a tensor: the elements of format::scaleShape.
std::int64_t blocksOf(std::span<const std::int64_t> shape, std::span<const std::int64_t> block);

/// Row-major extents and block extents after neighbouring axes have been joined where that changes
/// neither an element's place nor its block's: rows of whole blocks one after another are one long
/// row, an axis that lies in one block belongs to the axis before it. No axis has extent 1.
class BlockLayout {
public:
  /// All extents of `shape` and `block` are at least 1.
  BlockLayout(std::span<const std::int64_t> shape, std::span<const std::int64_t> block);

  std::size_t rank() const { return axes.size(); }
  /// From the last axis: 0 is the innermost; 1 beyond the rank.
  std::size_t extent(std::size_t fromLast) const { return at(fromLast).extent; }
  std::size_t block(std::size_t fromLast) const { return at(fromLast).block; }

  std::size_t size() const { return elements; }
  std::size_t blockCount() const { return gridSize; }

  /// Whether every axis before the last `inner` ones has blocks of 1.
  bool isBlockedOnlyWithin(std::size_t inner) const;

  /// Blocks that differ only in their place on the last axis form a group: they share their rows.
  std::size_t blocksInGroup() const { return at(0).blocks; }
  std::size_t groupCount() const { return gridSize / blocksInGroup(); }
  /// Calls use(offset) with where the whole rows of a group's blocks begin, in order.
  template <typename Use> void forRows(std::size_t group, const Use& use) const {
    forRowsOf(group, std::cref(use));
  }

  /// Calls use(offset, size) with the pieces of block `index` (row-major in the grid) that are
  /// contiguous in memory, in order.
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
    std::size_t blocks = 1; ///< along it
    std::size_t stride = 0;
  };

  Axis at(std::size_t fromLast) const {
    return fromLast < axes.size() ? axes[axes.size() - 1 - fromLast] : Axis{};
  }

  ThreadVector<Axis> axes;
  std::size_t elements = 1, gridSize = 1;
};

} // namespace octavo::kernels
