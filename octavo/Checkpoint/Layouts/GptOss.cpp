// quant_method "mxfp4": the experts of gpt-oss, under Hugging Face's names and OpenAI's own.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::checkpoint {

namespace {

constexpr auto kGptOssSpellings = std::to_array<LayerSpelling>({
    {"mxfp4",
     {"*_blocks", "U8", ElementShape::BlocksOf16},
     {"*_scales", "U8", ScaleShape::Grid},
     {},
     {},
     Access::ReadAndWrite,
     StoredAxes::Same,
     InputScale::Optional,
     Holds::Stacks},
    {"mxfp4",
     {"*.blocks", "U8", ElementShape::BlocksOf16},
     {"*.scales", "U8", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly},
    {"mxfp4",
     {"*_blocks", "U8", ElementShape::PackedBytes},
     {"*_scales", "U8", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly},
});

class GptOss : public Layout {
public:
  std::string_view name() const override { return "gpt-oss"; }
  std::string_view description() const override {
    return "MXFP4 experts as blocks of 16 bytes with their exponents; everything else plain.";
  }
  std::string_view source() const override {
    return "gpt-oss gpt_oss/torch/weights.py; transformers integrations/mxfp4.py";
  }
  std::span<const LayerSpelling> spellings() const override { return kGptOssSpellings; }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"mxfp4"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    if (stringAt(folder.quantizationConfig(), "quant_method") == "mxfp4")
      return "config.json: quant_method is mxfp4";
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const Json& block = readableQuantization(folder);
    const NamePatterns plain(stringsAt(block, "modules_to_not_convert"), PatternStyle::NameOrRegex,
                             "modules_to_not_convert", findings);
    Inventory inventory = scanLayers(
        folder, kGptOssSpellings,
        [&](std::string_view module) {
          Claim claim;
          if (plain.match(module)) {
            claim.kind = Claim::Kind::Plain;
            claim.source = "config.json: modules_to_not_convert";
          } else if (!block.is_null()) {
            claim.kind = Claim::Kind::Quantized;
            claim.reach = Claim::Reach::Some; // experts only
            claim.format = "mxfp4";
            claim.source = "config.json: quantization_config";
          }
          return claim;
        },
        findings);
    reportUnused(folder, plain, "modules_to_not_convert", findings);

    const Layer* interleaved = nullptr;
    for (Layer& layer : inventory.layers) {
      if (layer.elements.tensor.name().ends_with("_blocks"))
        layer.plainAxes = PlainAxes::Swapped;
      if (layer.parameter == "gate_up_proj" || layer.parameter == "mlp1_weight")
        interleaved = &layer;
    }
    if (interleaved)
      findings.push_back(
          finding("interleaved-gate-up", shardOf(folder, interleaved->elements.tensor),
                  interleaved->elements.tensor.name(),
                  fmt::format("rows of {} are gate, up, gate, up, ...", interleaved->parameter)));
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer> layers) const override {
    for (ChosenLayer& layer : layers)
      layer.activations = {};
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    setQuantization(config,
                    {{"modules_to_not_convert", choice.ignored}, {"quant_method", "mxfp4"}});
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& gptOssLayout() {
  static const GptOss layout;
  return layout;
}

} // namespace octavo::checkpoint
