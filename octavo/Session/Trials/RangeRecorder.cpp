#include "octavo/Session/Trials/RangeRecorder.h"

#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Transforms/Quantize/ProbeDots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace octavo::session {

namespace {

using analysis::CalibratedTensor;
using Part = transforms::CalibratedSide::Part;

/// Raises the maximum magnitude of each column, which is an index along `axis`.
void raise(std::vector<float>& columnAmax, std::span<const float> values,
           std::span<const std::int64_t> shape, std::int64_t axis) {
  const auto columns = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
  std::size_t inner = 1;
  for (const std::int64_t extent : shape.subspan(static_cast<std::size_t>(axis) + 1))
    inner *= static_cast<std::size_t>(extent);
  for (std::size_t i = 0; i < values.size();)
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t at = 0; at < inner; ++at, ++i)
        columnAmax[column] = std::max(columnAmax[column], std::fabs(values[i]));
}

std::string placeOf(std::span<const std::int64_t> shape, std::size_t index) {
  std::vector<std::int64_t> place(shape.size());
  auto rest = static_cast<std::int64_t>(index);
  for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
    place[axis] = rest % shape[axis];
  return fmt::format("[{}]", fmt::join(place, ", "));
}

/// The values of a tensor that count, and their indices.
class Counted {
public:
  /// seen[axis] says which indices count; empty: all of that axis.
  Counted(std::span<const float> values, std::span<const std::int64_t> shape,
          const std::vector<std::vector<bool>>& seen)
      : all(values),
        isSome(std::ranges::any_of(seen, [](const auto& axis) { return !axis.empty(); })) {
    for (std::size_t i = 0; isSome && i < values.size(); ++i) {
      std::size_t rest = i;
      bool counts = true;
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        const auto extent = static_cast<std::size_t>(shape[axis]);
        counts &= seen[axis].empty() || seen[axis][rest % extent];
        rest /= extent;
      }
      if (counts) {
        some.push_back(values[i]);
        places.push_back(i);
      }
    }
  }

  std::span<const float> values() const { return isSome ? std::span<const float>(some) : all; }
  std::size_t placeOf(std::size_t at) const { return isSome ? places[at] : at; }

private:
  std::span<const float> all;
  bool isSome;
  std::vector<float> some;
  std::vector<std::size_t> places;
};

} // namespace

RangeRecorder::RangeRecorder(std::vector<transforms::CalibratedSide> probed, Columns columns)
    : probed(std::move(probed)), columns(columns) {
  for (const transforms::CalibratedSide& side : this->probed)
    if (side.tensor == found.tensors.size())
      found.tensors.push_back({.dot = side.dot, .side = side.side});
  ofColumns.resize(found.tensors.size());
}

analysis::Calibration RangeRecorder::calibration() const {
  const std::lock_guard lock(mutex);
  analysis::Calibration whole = found;
  for (std::size_t i = 0; i < ofColumns.size(); ++i)
    if (ofColumns[i].magnitudes.count() != 0 && whole.tensors[i].magnitudes.count() != 0) {
      whole.tensors[i].columns = ofColumns[i].columns;
      whole.tensors[i].columnAmax = ofColumns[i].columnAmax;
    }
  return whole;
}

program::Outcome RangeRecorder::write(std::string_view id, std::string_view /*type*/,
                                      const program::Tensor& tensor) {
  const auto seen = transforms::probedValue(id);
  if (!seen || seen->first >= probed.size())
    return {};
  const std::size_t number = seen->first;
  const transforms::CalibratedSide& side = probed[number];
  std::vector<float> widened;
  std::span<const float> values;
  if (tensor.type == numerics::ElementType(format::element("f32"))) {
    values = tensor.as<float>();
  } else {
    widened = interpreter::decodeToF32(tensor);
    values = widened;
  }
  std::int64_t extent = 1;
  for (const std::int64_t axis : side.contracting)
    extent *= tensor.shape[static_cast<std::size_t>(axis)];
  CalibratedTensor own{.dot = side.dot, .side = side.side, .columns = extent};
  if (values.empty())
    return {};
  if (side.part == Part::Columns) {
    // A single zero is merged, because the other probe counts the values.
    static_cast<void>(own.magnitudes.add(std::array{0.0F}));
  } else {
    const Counted counted(values, tensor.shape, side.seen);
    if (const auto place = own.magnitudes.add(counted.values()))
      return tl::unexpected(fmt::format(
          "the {} of dot \"{}\" has {} at {}: a range of it would be none", side.side, side.dot,
          std::isnan(counted.values()[*place]) ? "NaN"
          : counted.values()[*place] > 0       ? "Inf"
                                               : "-Inf",
          placeOf(tensor.shape, counted.placeOf(*place))));
  }
  if (columns == Columns::Record && side.contracting.size() == 1) {
    own.columnAmax.resize(static_cast<std::size_t>(extent));
    raise(own.columnAmax, values, tensor.shape, side.contracting.front());
  }
  const std::scoped_lock lock(mutex);
  (side.part == Part::Columns ? ofColumns : found.tensors)[side.tensor].merge(own);
  return {};
}

tl::expected<program::Tensor, std::string>
RangeRecorder::read(std::string_view id, std::uint32_t /*iteration*/, std::string_view /*type*/) {
  return tl::unexpected(
      fmt::format("the probe '{}' keeps no tensor while a program is calibrated", id));
}

} // namespace octavo::session
