#include "octavo/Program/Steps/Products/GatheredWeight.h"

#include <cstring>
#include <utility>

namespace octavo::program {

std::size_t Gathered::size() const {
  std::size_t size = 1;
  for (const Axis& axis : axes)
    size *= static_cast<std::size_t>(axis.count);
  return size;
}

std::pair<std::int64_t, std::size_t> Gathered::beginOf(std::int64_t number,
                                                       std::int64_t slices) const {
  std::int64_t begin = offset;
  std::size_t axis = 0;
  for (std::int64_t rest = slices; rest > 1; ++axis) {
    rest /= axes[axis].count;
    begin += number / rest * axes[axis].stride;
    number %= rest;
  }
  return {begin, axis};
}

Gathered Gathered::slice(std::int64_t number, std::int64_t slices) const {
  const auto [begin, axis] = beginOf(number, slices);
  return {begin, {axes.begin() + static_cast<std::ptrdiff_t>(axis), axes.end()}};
}

std::optional<std::int64_t> Gathered::runOf(std::int64_t number, std::int64_t slices) const {
  const auto [begin, axis] = beginOf(number, slices);
  const bool isRun = axis == axes.size() || (axis + 1 == axes.size() && axes[axis].stride == 1);
  return isRun ? std::optional(begin) : std::nullopt;
}

std::vector<std::byte> Gathered::from(const void* array, int bytes) const {
  const std::size_t width = static_cast<std::size_t>(bytes), count = size();
  std::vector<std::byte> result(count * width);
  // A contiguous innermost axis is copied at once.
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

std::optional<kernels::ScaledView> GatheredWeight::inPlace(const kernels::ScaledView& whole,
                                                           std::int64_t slice) const {
  const auto ofElements = elements.runOf(slice, slices.count()),
             ofScales = scales.runOf(slice, slices.count());
  if (!ofElements || !ofScales)
    return std::nullopt;
  kernels::ScaledView view = whole;
  view.elements += *ofElements;
  view.scales = static_cast<const std::byte*>(whole.scales) + *ofScales * whole.scaleBytes;
  return view;
}

void GatheredWeight::addTo(std::vector<std::int64_t>& key) const {
  key.push_back(slices.count());
  for (const Gathered* part : {&elements, &scales}) {
    key.push_back(part->offset);
    key.push_back(static_cast<std::int64_t>(part->axes.size()));
    for (const Gathered::Axis& axis : part->axes)
      key.insert(key.end(), {axis.count, axis.stride});
  }
}

MovedParts::MovedParts(const GatheredWeight& moved, const kernels::ScaledView& whole,
                       std::int64_t slice)
    : elements(moved.elements.slice(slice, moved.slices.count()).from(whole.elements, 1)),
      scales(moved.scales.slice(slice, moved.slices.count()).from(whole.scales, whole.scaleBytes)) {
}

kernels::ScaledView MovedParts::first(const kernels::ScaledView& whole) const {
  kernels::ScaledView view = whole;
  view.elements = reinterpret_cast<const std::uint8_t*>(elements.data());
  view.scales = scales.data();
  return view;
}

} // namespace octavo::program
