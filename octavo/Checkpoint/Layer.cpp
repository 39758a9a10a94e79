#include "octavo/Checkpoint/Layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace octavo::checkpoint {

std::string plainName(const Layer& layer) { return layer.name + "." + layer.parameter; }

std::string formatName(const Layer& layer) {
  if (layer.format)
    return std::string(layer.format->name);
  return fmt::format("{} x {} [{}]", layer.type.element->name, layer.type.scale->name,
                     fmt::join(layer.type.block, ", "));
}

std::uint64_t bytesOf(const Layer& layer) {
  std::uint64_t bytes = layer.elements.tensor.bytes().size();
  for (const std::optional<Part>* part : {&layer.scales, &layer.outer, &layer.inputScale})
    if (*part)
      bytes += (*part)->tensor.bytes().size();
  return bytes;
}

} // namespace octavo::checkpoint
