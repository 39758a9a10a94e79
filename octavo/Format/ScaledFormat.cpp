#include "octavo/Format/ScaledFormat.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

namespace octavo::format {

const ScaledFormat* findScaledFormat(std::string_view name) {
  auto row = std::ranges::find(kScaledFormats, name, &ScaledFormat::name);
  return row == kScaledFormats.end() ? nullptr : &*row;
}

std::optional<ScaleRule> findScaleRule(std::string_view name) {
  auto row = std::ranges::find(kScaleRules, name, &ScaleRuleRow::name);
  return row == kScaleRules.end() ? std::nullopt : std::optional(row->rule);
}

std::string_view scaleRuleName(ScaleRule rule) {
  return std::ranges::find(kScaleRules, rule, &ScaleRuleRow::rule)->name;
}

std::vector<std::int64_t> blockShape(const ScaledFormat& format,
                                     std::span<const std::int64_t> shape, int contracted) {
  const int rank = static_cast<int>(shape.size());
  assert(contracted >= 0 && contracted < rank);
  // The row of a matrix: the last axis that is not the contracted one.
  const int row = contracted == rank - 1 ? rank - 2 : rank - 1;
  const bool wholeTensor = format.across == kWholeAxis && format.along == kWholeAxis;
  std::vector<std::int64_t> block(shape.size(), 1);
  for (int axis = 0; axis < rank; ++axis) {
    std::int64_t extent = 1;
    if (wholeTensor)
      extent = kWholeAxis;
    else if (axis == contracted)
      extent = format.along;
    else if (axis == row)
      extent = format.across;
    if (extent == kWholeAxis || extent > shape[axis])
      extent = shape[axis];
    block[axis] = std::max<std::int64_t>(extent, 1);
  }
  return block;
}

std::vector<std::int64_t> scaleShape(std::span<const std::int64_t> shape,
                                     std::span<const std::int64_t> block) {
  assert(shape.size() == block.size());
  std::vector<std::int64_t> grid(shape.size());
  std::ranges::transform(shape, block, grid.begin(),
                         [](std::int64_t n, std::int64_t b) { return n / b + (n % b != 0); });
  return grid;
}

double ScaledFormat::bitsPerValue(std::span<const std::int64_t> shape, int contracted) const {
  auto count = [](std::span<const std::int64_t> s) {
    return static_cast<double>(
        std::accumulate(s.begin(), s.end(), std::int64_t{1}, std::multiplies<>()));
  };
  const double values = count(shape);
  const double scales = count(scaleShape(shape, blockShape(*this, shape, contracted)));
  return element->width() + (scales * scale->width() + (hasOuterScale ? 32 : 0)) / values;
}

} // namespace octavo::format
