#include "octavo/Program/Steps/Products/ScaledShape.h"

#include <algorithm>

namespace octavo::program {

ScaledShape::ScaledShape(const std::vector<std::int64_t>& shape, const numerics::ScaledType& type)
    : extents(shape.begin(), shape.end()), blocks(type.block.begin(), type.block.end()),
      element(type.element), scale(type.scale), hasOuterScale(type.hasOuterScale) {}

bool ScaledShape::isOpen() const { return std::ranges::any_of(extents, &BatchExtent::isOpen); }

void ScaledShape::close(std::int64_t items, OfItems& now) const {
  now.shape.clear();
  now.type.block.clear();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::int64_t extent = extents[axis].of(items);
    now.shape.push_back(extent);
    now.type.block.push_back(std::max<std::int64_t>(1, std::min(extent, blocks[axis].of(items))));
  }
  now.type.element = element;
  now.type.scale = scale;
  now.type.hasOuterScale = hasOuterScale;
}

ScaledShape::OfItems ScaledShape::of(std::int64_t items) const {
  OfItems now{};
  close(items, now);
  return now;
}

} // namespace octavo::program
