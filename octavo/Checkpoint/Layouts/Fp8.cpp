// quant_method "fp8" without blocks: checkpoints of AutoFP8 and of the built-in FP8 of vLLM and
// transformers.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

namespace {

constexpr ElementSpelling kFp8Weight = {"*", "F8_E4M3", ElementShape::Logical};
constexpr ScaleSpelling kFp8Input = {"input_scale", "F32", ScaleShape::Scalar};

constexpr auto kFp8Spellings = std::to_array<LayerSpelling>({
    {"fp8_tensor", kFp8Weight, {"*_scale", "F32", ScaleShape::Scalar}, {}, kFp8Input},
    {"fp8_row", kFp8Weight, {"*_scale", "F32", ScaleShape::Column}, {}, {}, Access::ReadOnly},
    {"fp8_tensor",
     kFp8Weight,
     {"*_scale_inv", "F32", ScaleShape::Scalar},
     {},
     kFp8Input,
     Access::Tolerated},
    // Mistral's checkpoints, under Hugging Face's names and Mistral's own
    // (consolidated.safetensors).
    {"fp8_tensor",
     kFp8Weight,
     {"*_scale_inv", "", ScaleShape::Scalar},
     {},
     {"activation_scale", "", ScaleShape::Scalar},
     Access::ReadOnly,
     StoredAxes::Same,
     InputScale::Telling},
    {"fp8_tensor",
     kFp8Weight,
     {"*_scale", "", ScaleShape::Scalar},
     {},
     {"activation_scale", "", ScaleShape::Scalar},
     Access::ReadOnly,
     StoredAxes::Same,
     InputScale::Telling},
    {"fp8_tensor",
     kFp8Weight,
     {"qscale_weight", "", ScaleShape::Scalar},
     {},
     {"qscale_act", "", ScaleShape::Scalar},
     Access::ReadOnly},
    // Names of TensorRT-LLM, and tensors that Transformer Engine stores beside codes.
    {"fp8_tensor",
     kFp8Weight,
     {"weights_scaling_factor", "F32", ScaleShape::One},
     {},
     {"activation_scaling_factor", "F32", ScaleShape::One},
     Access::ReadOnly},
    {"fp8_tensor", kFp8Weight, {"*._scale_inv", "F32", ScaleShape::One}, {}, {}, Access::ReadOnly},
});

class Fp8 : public Layout {
public:
  std::string_view name() const override { return "fp8"; }
  std::string_view description() const override {
    return "FP8 weights with one F32 scale per tensor, activations static or dynamic.";
  }
  std::string_view source() const override {
    return "AutoFP8 auto_fp8/quantize.py; vLLM quantization/fp8.py; mistral-common's and "
           "TensorRT-LLM's names";
  }
  std::span<const LayerSpelling> spellings() const override { return kFp8Spellings; }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"fp8", "fbgemm_fp8"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    const Json& block = folder.quantizationConfig();
    const std::string method = stringAt(block, "quant_method");
    if ((method == "fp8" && memberAt(block, {"weight_block_size"}).is_null()) ||
        method == "fbgemm_fp8")
      return fmt::format("config.json: quant_method is {}, without weight_block_size", method);
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const Json& block = readableQuantization(folder);
    std::vector<std::string> ignored = stringsAt(block, "ignored_layers");
    for (std::string& entry : stringsAt(block, "modules_to_not_convert"))
      ignored.push_back(std::move(entry));
    const NamePatterns plain(ignored, PatternStyle::NameOrRegex, "ignored_layers", findings);

    const std::string scheme = stringAt(block, "activation_scheme");
    if (!scheme.empty() && scheme != "static" && scheme != "dynamic")
      findings.push_back(finding("bad-configuration", "config.json", "",
                                 fmt::format("activation_scheme is {}; static or dynamic is "
                                             "expected",
                                             inQuotes(scheme))));
    const auto kind = scheme == "static" ? Activations::Kind::Static : Activations::Kind::Dynamic;
    const bool configured = !block.is_null();
    const bool perRow = stringAt(block, "quant_method") == "fbgemm_fp8";
    Inventory inventory = scanLayers(
        folder, kFp8Spellings,
        [&](std::string_view module) {
          Claim claim;
          if (plain.match(module)) {
            claim.kind = Claim::Kind::Plain;
            claim.source = "config.json: ignored_layers";
          } else if (configured) {
            claim.kind = Claim::Kind::Quantized;
            claim.format = perRow ? "fp8_row" : "fp8_tensor";
            claim.activations = activationsFor(claim.format, kind);
            claim.source = "config.json: quantization_config";
          }
          return claim;
        },
        findings);
    reportUnused(folder, plain, "ignored_layers", findings);
    if (!stringAt(block, "kv_cache_scheme").empty())
      inventory.kvCacheFormat = "fp8";
    return inventory;
  }

  /// One activation scheme for all layers: static if every layer has a scale.
  void settleActivations(std::span<ChosenLayer> layers) const override {
    const bool isStatic = std::ranges::all_of(layers, [](const ChosenLayer& layer) {
      return layer.activations.kind == Activations::Kind::Static;
    });
    for (ChosenLayer& layer : layers)
      layer.activations = activationsFor(layer.format->name, isStatic ? Activations::Kind::Static
                                                                      : Activations::Kind::Dynamic);
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    const bool isStatic = !choice.layers.empty() &&
                          choice.layers.front().activations.kind == Activations::Kind::Static;
    Json block = {{"quant_method", "fp8"},
                  {"activation_scheme", isStatic ? "static" : "dynamic"},
                  {"ignored_layers", choice.ignored}};
    if (choice.kvScales)
      block["kv_cache_scheme"] = "static";
    setQuantization(config, std::move(block));
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& fp8Layout() {
  static const Fp8 layout;
  return layout;
}

} // namespace octavo::checkpoint
