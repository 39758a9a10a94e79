#include "octavo/Format/ScaledFormat.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

namespace octavo::format {

namespace {

/// A row with another block size, and the owner of the strings that the row views.
struct SizedFormat {
  std::string name, activation;
  ScaledFormat format;
};

/// Rows with other block sizes, created on first use and kept until the process ends.
class SizedFormats {
public:
  const ScaledFormat* find(const ScaledFormat& row, std::int64_t size) {
    const std::lock_guard lock(mutex);
    std::unique_ptr<SizedFormat>& sized = made[{&row, size}];
    if (!sized) {
      const std::string suffix = ":" + std::to_string(size);
      sized = std::make_unique<SizedFormat>(
          SizedFormat{std::string(row.name) + suffix, std::string(row.activation) + suffix, row});
      sized->format.name = sized->name;
      sized->format.activation = sized->activation;
      sized->format.along = size;
      if (row.across == row.along)
        sized->format.across = size;
    }
    return &sized->format;
  }

private:
  std::mutex mutex;
  std::map<std::pair<const ScaledFormat*, std::int64_t>, std::unique_ptr<SizedFormat>> made;
};

} // namespace

const ScaledFormat* findScaledFormat(std::string_view name) {
  const std::size_t colon = name.find(':');
  const auto row = std::ranges::find(kScaledFormats, name.substr(0, colon), &ScaledFormat::name);
  if (row == kScaledFormats.end())
    return nullptr;
  if (colon == std::string_view::npos)
    return &*row;
  std::int64_t size = 0;
  const std::string_view digits = name.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '0' ||
      row->along == kWholeAxis || size < kLeastBlock || size > kMostBlock ||
      !std::has_single_bit(static_cast<std::uint64_t>(size)))
    return nullptr;
  if (size == row->along)
    return &*row;
  static SizedFormats sized;
  return sized.find(*row, size);
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
