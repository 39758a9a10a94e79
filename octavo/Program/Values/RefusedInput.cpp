#include "octavo/Program/Values/RefusedInput.h"

#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace octavo::program {

namespace {

std::string_view nameOf(float value) { return value != value ? "NaN" : value > 0 ? "Inf" : "-Inf"; }

std::string textOf(std::span<const std::int64_t> place) {
  return place.empty() ? "" : fmt::format(" at [{}]", fmt::join(place, ", "));
}

constexpr std::string_view kArgument = "argument ", kHas = " has ";

/// The index of the first element that is `value`; nullopt if there is none.
std::optional<std::vector<std::int64_t>> firstPlace(const Tensor& tensor, std::string_view value) {
  if (!tensor.type.isFloat())
    return std::nullopt;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto found = static_cast<float>(numerics::decode(tensor.type.format(), tensor.code(i)));
    if (found - found == 0 || nameOf(found) != value)
      continue;
    std::vector<std::int64_t> place(tensor.shape.size());
    for (std::size_t axis = place.size(); axis-- > 0; i /= tensor.shape[axis])
      place[axis] = i % tensor.shape[axis];
    return place;
  }
  return std::nullopt;
}

} // namespace

std::string refusedInput(const OperationText& op, float value,
                         std::span<const std::int64_t> place) {
  return fmt::format("{}: {}{}{}{}{}{}{}", op.location, op.source.empty() ? "" : op.source + ": ",
                     op.input, kHas, nameOf(value), textOf(place), kRefused, kNonFiniteOptions);
}

std::string withPlace(std::string error, std::span<const std::string> arguments,
                      std::span<const Value> values) {
  const std::size_t end = error.find(kRefused);
  const std::size_t has = end == std::string::npos ? end : error.rfind(kHas, end);
  const std::size_t begin =
      has == std::string::npos ? has : error.rfind(fmt::format(": {}\"", kArgument), has);
  if (begin == std::string::npos)
    return error;
  const std::size_t names = begin + 2 + kArgument.size();
  const std::string_view whole = error, given = whole.substr(names, has - names),
                         value = whole.substr(has + kHas.size(), end - has - kHas.size());
  for (std::size_t i = 0; i < std::min(arguments.size(), values.size()); ++i) {
    const std::string name = fmt::format("\"{}\"", arguments[i]);
    const bool isGiven =
        given == name || given.starts_with(name + ", ") || given.starts_with(name + " or ") ||
        given.find(", " + name) != std::string_view::npos || given.ends_with(" or " + name);
    if (!isGiven || !values[i].isTensor())
      continue;
    if (const auto place = firstPlace(values[i].tensor(), value))
      return fmt::format("{}{}{}{}{}{}", whole.substr(0, names), name, kHas, value, textOf(*place),
                         whole.substr(end));
  }
  return error;
}

} // namespace octavo::program
