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

static std::vector<NamedPart>
present(std::initializer_list<std::pair<std::string_view, const std::optional<Part>*>> parts) {
  std::vector<NamedPart> those;
  for (const auto& [role, part] : parts)
    if (*part)
      those.push_back({role, &**part});
  return those;
}

std::vector<NamedPart> scalesOf(const Layer& layer) {
  return present({{"scales", &layer.scales},
                  {"outer scale", &layer.outer},
                  {"input scale", &layer.inputScale}});
}

std::vector<NamedPart> scalesOf(const KvScales& kv) {
  return present({{"key scale", &kv.key},
                  {"value scale", &kv.value},
                  {"query scale", &kv.query},
                  {"probability scale", &kv.probability}});
}

std::uint64_t bytesOf(const Layer& layer) {
  std::uint64_t bytes = layer.elements.tensor.size();
  for (const auto& [role, part] : scalesOf(layer))
    bytes += part->tensor.size();
  for (const StoredTensor& tensor : layer.idle)
    bytes += tensor.size();
  return bytes;
}

} // namespace octavo::checkpoint
