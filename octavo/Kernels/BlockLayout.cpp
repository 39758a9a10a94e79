#include "octavo/Kernels/BlockLayout.h"

#include <cassert>

namespace octavo::kernels {

std::int64_t blocksOf(std::span<const std::int64_t> shape, std::span<const std::int64_t> block) {
  assert(shape.size() == block.size());
  std::int64_t all = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    all *= shape[i] / block[i] + (shape[i] % block[i] != 0 ? 1 : 0);
  return all;
}

BlockLayout::BlockLayout(std::span<const std::int64_t> shape, std::span<const std::int64_t> block) {
  assert(shape.size() == block.size());
  axes.reserve(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[i]);
    const std::size_t size = std::min(static_cast<std::size_t>(block[i]), extent);
    assert(extent >= 1 && size >= 1);
    elements *= extent;
    if (extent == 1)
      continue;
    if (axes.empty()) {
      axes.push_back({.extent = extent, .block = size});
      continue;
    }
    Axis& inner = axes.back();
    if (inner.block == inner.extent) { // the inner axis lies in one block
      inner.extent *= extent;
      inner.block *= size;
    } else if (size == 1 && inner.extent % inner.block == 0) { // whole blocks in a row
      inner.extent *= extent;
    } else {
      axes.push_back({.extent = extent, .block = size});
    }
  }
  std::size_t stride = 1;
  for (Axis& axis : axes) {
    axis.stride = stride;
    stride *= axis.extent;
    axis.blocks = (axis.extent + axis.block - 1) / axis.block;
    gridSize *= axis.blocks;
  }
  std::ranges::reverse(axes);
}

bool BlockLayout::isBlockedOnlyWithin(std::size_t inner) const {
  return std::all_of(axes.begin(),
                     axes.end() - static_cast<std::ptrdiff_t>(std::min(inner, rank())),
                     [](const Axis& axis) { return axis.block == 1; });
}

void BlockLayout::forRowsOf(std::size_t group, const std::function<void(std::size_t)>& use) const {
  const std::size_t leading = rank() ? rank() - 1 : 0;
  ThreadVector<std::size_t> sizes(leading), coordinates(leading, 0);
  std::size_t offset = 0;
  for (std::size_t axis = leading; axis-- > 0;) {
    const std::size_t begin = group % axes[axis].blocks * axes[axis].block;
    group /= axes[axis].blocks;
    sizes[axis] = std::min(axes[axis].block, axes[axis].extent - begin);
    offset += begin * axes[axis].stride;
  }
  for (;;) {
    use(offset);
    std::size_t axis = leading;
    while (axis-- > 0) {
      offset += axes[axis].stride;
      if (++coordinates[axis] < sizes[axis])
        break;
      offset -= sizes[axis] * axes[axis].stride;
      coordinates[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1))
      return;
  }
}

} // namespace octavo::kernels
