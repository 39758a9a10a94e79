#include "octavo/Program/Steps/Place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

namespace octavo::program {

/// Whether a step has made the scaled tensor at Frame::values[number].
static bool isMade(const Frame& frame, std::size_t number) {
  return frame.values[number].isToken() && frame.made[number].type.element != nullptr;
}

Value read(Frame& frame, const Place& place) {
  const auto number = static_cast<std::size_t>(place.number);
  if (!place.memory) {
    if (isMade(frame, number))
      frame.values[number] = Value(std::exchange(frame.made[number], {}));
    return frame.values[number];
  }
  Tensor tensor = Tensor::zeros(place.memory->type, place.memory->shapeOf(frame.items));
  if (!tensor.bytes.empty())
    std::memcpy(tensor.bytes.data(), frame.whole.memory[number], tensor.bytes.size());
  return Value(std::move(tensor));
}

Outcome write(Frame& frame, const Place& place, Value value) {
  const auto number = static_cast<std::size_t>(place.number);
  if (!place.memory) {
    frame.values[number] = std::move(value);
    return {};
  }
  const std::vector<std::int64_t> expected = place.memory->shapeOf(frame.items);
  if (!value.isTensor() || value.tensor().shape != expected ||
      value.tensor().type != place.memory->type)
    return tl::make_unexpected(fmt::format(
        "expected {} of shape [{}], found {}", place.memory->type.name(), fmt::join(expected, ", "),
        value.isTensor() ? fmt::format("{} of shape [{}]", value.tensor().type.name(),
                                       fmt::join(value.tensor().shape, ", "))
                         : "no tensor"));
  const Tensor& tensor = value.tensor();
  if (!tensor.bytes.empty())
    std::memcpy(frame.whole.memory[number], tensor.bytes.data(), tensor.bytes.size());
  return {};
}

numerics::ScaledTensor& makeScaled(Frame& frame, int number) {
  const auto at = static_cast<std::size_t>(number);
  frame.values[at] = Value();
  return frame.made[at];
}

const numerics::ScaledTensor& scaledAt(const Frame& frame, int number) {
  const auto at = static_cast<std::size_t>(number);
  return frame.values[at].isScaled() ? frame.values[at].scaled() : frame.made[at];
}

BatchExtent bytesOf(const Place& place) {
  BatchExtent bytes = place.memory->type.bytes();
  for (const BatchExtent& extent : place.memory->shape)
    bytes = product(bytes, extent).value_or(0);
  return bytes;
}

void copy(Frame& frame, const Place& from, const Place& to) {
  const auto source = static_cast<std::size_t>(from.number),
             target = static_cast<std::size_t>(to.number);
  if (!from.memory) {
    frame.values[target] = read(frame, from);
    return;
  }
  const auto bytes = static_cast<std::size_t>(bytesOf(from).of(frame));
  if (frame.whole.memory[target] != frame.whole.memory[source] && bytes != 0)
    std::memmove(frame.whole.memory[target], frame.whole.memory[source], bytes);
}

StepFacts CopyStep::facts() const {
  return {.kind = StepFacts::Kind::Copy,
          .operations = 0,
          .bytes = from.memory ? 2 * static_cast<double>(bytesOf(from).of(1)) : 0};
}

Outcome CopyStep::run(Frame& frame) const {
  copy(frame, from, to);
  return {};
}

} // namespace octavo::program
