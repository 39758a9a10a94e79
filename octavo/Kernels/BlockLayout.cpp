#include "octavo/Kernels/BlockLayout.h"

#include <algorithm>
#include <cassert>

namespace octavo::kernels {

BlockLayout::BlockLayout(std::span<const std::int64_t> shape, std::span<const std::int64_t> block) {
  assert(shape.size() == block.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    const std::size_t size = std::min(static_cast<std::size_t>(block[axis]), extent);
    assert(extent >= 1 && size >= 1);
    elements *= extent;
    if (extent == 1)
      continue;
    if (extents.empty()) {
      extents.push_back(extent);
      blocks.push_back(size);
    } else if (blocks.back() == extents.back()) { // the inner axis lies in one block
      extents.back() *= extent;
      blocks.back() *= size;
    } else if (size == 1 && extents.back() % blocks.back() == 0) { // whole blocks in a row
      extents.back() *= extent;
    } else {
      extents.push_back(extent);
      blocks.push_back(size);
    }
  }
  std::ranges::reverse(extents);
  std::ranges::reverse(blocks);
  strides.resize(extents.size());
  grid.resize(extents.size());
  std::size_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
    grid[axis] = (extents[axis] + blocks[axis] - 1) / blocks[axis];
    gridSize *= grid[axis];
  }
}

bool BlockLayout::isBlockedOnlyWithin(std::size_t inner) const {
  for (std::size_t axis = 0; axis + inner < blocks.size(); ++axis)
    if (blocks[axis] != 1)
      return false;
  return true;
}

void BlockLayout::forRows(std::size_t group, const std::function<void(std::size_t)>& use) const {
  const std::size_t leading = rank() ? rank() - 1 : 0;
  std::vector<std::size_t> sizes(leading), coordinates(leading, 0);
  std::size_t offset = 0;
  for (std::size_t axis = leading; axis-- > 0;) {
    const std::size_t begin = group % grid[axis] * blocks[axis];
    group /= grid[axis];
    sizes[axis] = std::min(blocks[axis], extents[axis] - begin);
    offset += begin * strides[axis];
  }
  for (;;) {
    use(offset);
    std::size_t axis = leading;
    while (axis-- > 0) {
      offset += strides[axis];
      if (++coordinates[axis] < sizes[axis])
        break;
      offset -= sizes[axis] * strides[axis];
      coordinates[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1))
      return;
  }
}

void BlockLayout::forSegments(std::size_t index,
                              const std::function<void(std::size_t, std::size_t)>& use) const {
  const std::size_t begin = index % blocksInGroup() * block(0);
  const std::size_t size = std::min(block(0), extent(0) - begin);
  forRows(index / blocksInGroup(), [&](std::size_t row) { use(row + begin, size); });
}

} // namespace octavo::kernels
