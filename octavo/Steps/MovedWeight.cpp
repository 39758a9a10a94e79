#include "octavo/Steps/MovedWeight.h"

#include <cstring>
#include <utility>

namespace octavo::steps {

std::size_t Gathered::size() const {
  std::size_t size = 1;
  for (const Axis& axis : axes)
    size *= static_cast<std::size_t>(axis.count);
  return size;
}

std::vector<std::byte> Gathered::from(const void* array, int bytes) const {
  const std::size_t width = static_cast<std::size_t>(bytes), count = size();
  std::vector<std::byte> result(count * width);
  // Neighbours of the innermost axis are copied at once.
  const bool hasRuns = !axes.empty() && axes.back().stride == 1;
  const std::size_t run = hasRuns ? static_cast<std::size_t>(axes.back().count) : 1;
  const std::size_t outer = axes.size() - (hasRuns ? 1 : 0);
  std::vector<std::int64_t> at(outer, 0);
  const auto* source = static_cast<const std::byte*>(array) + offset * bytes;
  for (std::size_t i = 0; i < count; i += run) {
    std::memcpy(result.data() + i * width, source, run * width);
    for (std::size_t axis = outer; axis-- > 0;) {
      source += axes[axis].stride * bytes;
      if (++at[axis] < axes[axis].count)
        break;
      source -= axes[axis].count * axes[axis].stride * bytes;
      at[axis] = 0;
    }
  }
  return result;
}

void MovedWeight::addTo(std::vector<std::int64_t>& key) const {
  key.push_back(slices.count);
  for (const Gathered* part : {&elements, &scales}) {
    key.push_back(part->offset);
    key.push_back(static_cast<std::int64_t>(part->axes.size()));
    for (const Gathered::Axis& axis : part->axes)
      key.insert(key.end(), {axis.count, axis.stride});
  }
}

MovedParts::MovedParts(const MovedWeight& moved, const kernels::ScaledView& whole)
    : elements(moved.elements.from(whole.elements, 1)),
      scales(moved.scales.from(whole.scales, whole.scaleBytes)),
      elementsOfSlice(elements.size() / static_cast<std::size_t>(moved.slices.count)),
      scaleBytesOfSlice(scales.size() / static_cast<std::size_t>(moved.slices.count)) {}

kernels::ScaledView MovedParts::first(const kernels::ScaledView& whole, std::int64_t slice) const {
  const auto at = static_cast<std::size_t>(slice);
  kernels::ScaledView view = whole;
  view.elements = reinterpret_cast<const std::uint8_t*>(elements.data() + at * elementsOfSlice);
  view.scales = scales.data() + at * scaleBytesOfSlice;
  return view;
}

} // namespace octavo::steps
