#include "octavo/Checkpoint/Layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace octavo::checkpoint {

Activations activationsFor(std::string_view format, Activations::Kind kind) {
  if (kind == Activations::Kind::None)
    return {};
  return {kind, format::findScaledFormat(format::findScaledFormat(format)->activation)};
}

bool areAlike(const Activations& a, const Activations& b) {
  if (a.kind != b.kind || a.kind == Activations::Kind::None)
    return a.kind == b.kind;
  return a.format == b.format || (a.format && b.format && a.format->element == b.format->element &&
                                  a.format->scale == b.format->scale);
}

std::string activationsText(const Activations& activations) {
  if (activations.kind == Activations::Kind::None)
    return "-";
  return fmt::format("{} {}", activations.kind == Activations::Kind::Static ? "static" : "dynamic",
                     activations.format ? activations.format->name : "");
}

std::string plainName(const Layer& layer) { return layer.name + "." + layer.parameter; }

std::string formatName(const Layer& layer) {
  if (layer.format)
    return std::string(layer.format->name);
  return fmt::format("{} x {} [{}]", layer.type.element->name, layer.type.scale->name,
                     fmt::join(layer.type.block, ", "));
}

std::uint64_t bytesOf(const Layer& layer) {
  std::uint64_t bytes = layer.elements.tensor.size();
  for (const std::optional<Part>* part : {&layer.scales, &layer.outer, &layer.inputScale})
    if (*part)
      bytes += (*part)->tensor.size();
  for (const StoredTensor& tensor : layer.idle)
    bytes += tensor.size();
  return bytes;
}

} // namespace octavo::checkpoint
