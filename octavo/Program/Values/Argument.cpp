#include "octavo/Program/Values/Argument.h"

#include "octavo/Program/Values/Comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace octavo::program {

namespace {

std::string spell(std::span<const std::int64_t> shape) {
  std::vector<std::string> extents;
  for (std::int64_t extent : shape)
    extents.push_back(extent == kUnknownExtent ? "?" : std::to_string(extent));
  return fmt::format("{}", fmt::join(extents, ", "));
}

} // namespace

std::string describe(const numerics::ElementType& type, std::span<const std::int64_t> shape) {
  return fmt::format("{}[{}]", type.name(), spell(shape));
}

bool Argument::takes(std::span<const std::int64_t> given) const {
  return std::ranges::equal(shape, given, [](std::int64_t expected, std::int64_t found) {
    return expected == kUnknownExtent || expected == found;
  });
}

std::string Argument::describe() const {
  if (!isScaled())
    return program::describe(std::get<numerics::ElementType>(type), shape);
  const numerics::ScaledType& scaled = std::get<ScaledArgument>(type).type;
  return fmt::format("{}[{}] scaled by {} a block of [{}]{}", scaled.element->name,
                     fmt::join(shape, ", "), scaled.scale->name, fmt::join(scaled.block, ", "),
                     scaled.hasOuterScale ? " and one f32" : "");
}

numerics::ElementType typeInFiles(const numerics::ElementType& type) {
  return type.isQuantized() ? numerics::ElementType(type.quantized().storage) : type;
}

std::optional<BeyondStorage> firstBeyondStorage(const numerics::ElementType& type,
                                                const numerics::Tensor& stored) {
  if (!type.isQuantized())
    return std::nullopt;
  const auto least = static_cast<double>(type.quantized().storageMin),
             greatest = static_cast<double>(type.quantized().storageMax);
  for (std::int64_t i = 0; i < stored.size(); ++i)
    if (const double value = valueOf(stored, i); value < least || value > greatest)
      return BeyondStorage{i, value};
  return std::nullopt;
}

std::uint64_t storedBits(const Value& value) {
  if (value.isUnread())
    return std::uint64_t{8} * value.unread().bytes();
  if (value.isTensor()) {
    const numerics::Tensor& tensor = value.tensor();
    const int width = tensor.type.isBoolean() ? 8 : tensor.type.width();
    return static_cast<std::uint64_t>(tensor.size()) * width;
  }
  const numerics::ScaledTensor& scaled = value.scaled();
  return scaled.elements.size() * scaled.type.element->width() +
         scaled.scales.size() * scaled.type.scale->width() + (scaled.type.hasOuterScale ? 32 : 0);
}

} // namespace octavo::program
