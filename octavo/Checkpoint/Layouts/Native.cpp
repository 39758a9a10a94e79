// octavo's native layout: elements and scales under safetensors' own dtypes (F4, F6_E2M3, F6_E3M2,
// F8_E8M0), for writers that no longer need U8. One row for each scaled format with narrow scales
// whose elements and scales have a safetensors dtype.
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

namespace octavo::checkpoint {

namespace {

const std::vector<LayerSpelling>& rows() {
  static const std::vector<LayerSpelling> list = [] {
    std::vector<LayerSpelling> spellings;
    for (const format::ScaledFormat& row : format::kScaledFormats) {
      if (!row.scale->isNarrow() || row.element->safetensors.empty() ||
          row.scale->safetensors.empty())
        continue;
      LayerSpelling& spelling = spellings.emplace_back(
          LayerSpelling{row.name,
                        {"*", row.element->safetensors, ElementShape::Logical},
                        {"*_scale", row.scale->safetensors, ScaleShape::Grid}});
      spelling.holds = Holds::Either;
      if (row.hasOuterScale) {
        spelling.outer = {"*_scale_2", "F32", ScaleShape::Scalar};
        spelling.input = {"input_scale", "F32", ScaleShape::Scalar};
      }
    }
    return spellings;
  }();
  return list;
}

constexpr std::array<std::string_view, 3> kKinds = {"none", "dynamic", "static"};

class Native : public Layout {
public:
  std::string_view name() const override { return "native"; }
  std::string_view description() const override {
    return "Elements and scales under safetensors' own F4, F6, F8 and F8_E8M0 dtypes.";
  }
  std::string_view source() const override { return "safetensors 0.6 (F4, F6, F8_E8M0)"; }
  std::span<const LayerSpelling> spellings() const override { return rows(); }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"octavo"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    if (stringAt(folder.quantizationConfig(), "quant_method") == "octavo")
      return "config.json: quant_method is octavo";
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const std::string kind = stringAt(readableQuantization(folder), "activations");
    Inventory inventory =
        scanLayers(folder, rows(), [](std::string_view) { return Claim{}; }, findings);
    for (Layer& layer : inventory.layers) {
      if (layer.format && kind == kKinds[1])
        layer.activations = activationsFor(layer.format->name, Activations::Kind::Dynamic);
      if (layer.shape.size() == 3 && isExpertStack(layer.name, layer.parameter))
        layer.plainAxes = PlainAxes::Swapped;
    }
    inventory.kvCacheFormat = stringAt(readableQuantization(folder), "kv_cache");
    return inventory;
  }

  /// One kind for all layers; the formats follow the weights' formats.
  void settleActivations(std::span<ChosenLayer> layers) const override {
    if (layers.empty())
      return;
    const Activations::Kind first = layers.front().activations.kind;
    const bool isOfAll = std::ranges::all_of(layers, [&](const ChosenLayer& layer) {
      return layer.activations.kind == first &&
             areAlike(layer.activations, activationsFor(layer.format->name, first));
    });
    for (ChosenLayer& layer : layers)
      layer.activations =
          activationsFor(layer.format->name, isOfAll ? first : Activations::Kind::None);
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    const Activations::Kind kind =
        choice.layers.empty() ? Activations::Kind::None : choice.layers.front().activations.kind;
    Json block = {{"quant_method", "octavo"},
                  {"activations", kKinds[static_cast<std::size_t>(kind)]},
                  {"ignore", choice.ignored}};
    if (choice.kvScales)
      block["kv_cache"] = "fp8";
    setQuantization(config, std::move(block));
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& nativeLayout() {
  static const Native layout;
  return layout;
}

} // namespace octavo::checkpoint
