#include "octavo/Checkpoint/Jobs/ActivationsPromise.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace octavo::checkpoint {

namespace {

struct Pair {
  const Layer* out;
  const Layer* in;
};

/// Whether the output's layout can store the scale of the layer's input.
bool mayBeStatic(const Pair& pair, const Layout& layout) {
  return pair.in->inputScale && pair.out->format == pair.in->format &&
         !layout.spelling(pair.out->format->name, pair.out->shape.size())->input.name.empty();
}

/// What the layout makes of the source's activations, layer by layer. If it cannot store the scale
/// of an input, the layer becomes dynamic. That may change other layers, so this repeats until
/// nothing changes.
std::vector<ChosenLayer> settled(std::span<const Pair> pairs, const Layout& layout) {
  for (std::set<const Layer*> withoutScale;;) {
    std::vector<ChosenLayer> layers;
    for (const Pair& pair : pairs) {
      const Activations& before = pair.in->activations;
      const bool isStatic = mayBeStatic(pair, layout) && !withoutScale.contains(pair.out);
      Activations wanted = activationsFor(pair.out->format->name,
                                          before.kind == Activations::Kind::None ? before.kind
                                          : isStatic ? Activations::Kind::Static
                                                     : Activations::Kind::Dynamic);
      if (wanted.kind != Activations::Kind::None && before.format &&
          pair.out->format == pair.in->format)
        wanted.format = before.format;
      layers.push_back({pair.out->name, pair.out->format, wanted});
    }
    layout.settleActivations(layers);
    const std::size_t known = withoutScale.size();
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].in->inputScale && layers[i].activations.kind != Activations::Kind::Static)
        withoutScale.insert(pairs[i].out);
    if (withoutScale.size() == known)
      return layers;
  }
}

bool isConfigured(const WeightList& weights, const Folder& folder) {
  return !folder.isSingleFile() && weights.layout().detectByConfiguration(folder);
}

} // namespace

ActivationsCheck checkActivations(const WeightList& output, const Folder& outputFolder,
                                  const WeightList& source, const Folder& sourceFolder) {
  ActivationsCheck check;
  if (!isConfigured(output, outputFolder) || !isConfigured(source, sourceFolder))
    return check;
  std::vector<Pair> pairs;
  for (const Layer& layer : output.inventory().layers) {
    const NamedWeight* same = source.find(plainName(layer));
    // For a format without a row it is unknown what else the layout could express.
    if (same && same->layer && layer.format &&
        output.layout().spelling(layer.format->name, layer.shape.size()))
      pairs.push_back({&layer, same->layer});
  }
  const std::vector<ChosenLayer> sayable = settled(pairs, output.layout());
  const auto text = [](const Activations& activations) {
    return activations.kind == Activations::Kind::None ? std::string("wide")
                                                       : activationsText(activations);
  };
  check.checked = pairs.size();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Activations &after = pairs[i].out->activations, &before = pairs[i].in->activations;
    if (!areAlike(before, after) && !areAlike(sayable[i].activations, after))
      check.broken.push_back(fmt::format("{}: inputs are {} where the source's are {}",
                                         pairs[i].out->name, text(after), text(before)));
  }
  return check;
}

} // namespace octavo::checkpoint
