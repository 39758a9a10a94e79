// quant_method "fp8" or "mxfp8" with weight_block_size: DeepSeek-V3 and its successors
// (transformers' fine-grained FP8, Qwen's and MiniMax's). The names of DeepSeek-V4's release are
// read as well.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

namespace {

constexpr ElementSpelling kDeepSeekWeight = {"*", "F8_E4M3", ElementShape::Logical};

// Despite the suffix `_inv`, all these scales multiply.
constexpr auto kDeepSeekSpellings = std::to_array<LayerSpelling>({
    {"fp8_block", kDeepSeekWeight, {"*_scale_inv", "F32", ScaleShape::Grid}},
    {"fp8_tensor",
     kDeepSeekWeight,
     {"*_scale_inv", "F32", ScaleShape::Scalar},
     {},
     {},
     Access::ReadOnly},
    {"mxfp8_e4m3",
     kDeepSeekWeight,
     {"*_scale_inv", "U8", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly},
    {"fp8_block",
     kDeepSeekWeight,
     {"scale", "F8_E8M0", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly},
    {"mxfp4",
     {"*", "I8", ElementShape::PackedBytes},
     {"scale", "F8_E8M0", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly},
    {"mxfp4",
     {"*", "I8", ElementShape::PackedBytes},
     {"*_scale_inv", "F8_E8M0", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly},
    {"fp8_block", kDeepSeekWeight, {"scale", "U8", ScaleShape::Grid}, {}, {}, Access::ReadOnly},
    {"mxfp4",
     {"*", "I8", ElementShape::PackedBytes},
     {"scale", "F8_E8M0", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly,
     StoredAxes::Same,
     InputScale::Optional,
     Holds::Matrices,
     {1, 128}},
    {"mxfp4",
     {"*", "I8", ElementShape::PackedBytes},
     {"*_scale_inv", "F8_E8M0", ScaleShape::Grid},
     {},
     {},
     Access::ReadOnly,
     StoredAxes::Same,
     InputScale::Optional,
     Holds::Matrices,
     {1, 128}},
    {"fp8_block", kDeepSeekWeight, {"*_scale", "F32", ScaleShape::Grid}, {}, {}, Access::Tolerated},
});

class DeepSeek : public Layout {
public:
  std::string_view name() const override { return "deepseek"; }
  std::string_view description() const override {
    return "FP8 weights in blocks of 128 x 128, each with a scale that multiplies.";
  }
  std::string_view source() const override {
    return "DeepSeek-V3 README_WEIGHTS.md, inference/kernel.py";
  }
  std::span<const LayerSpelling> spellings() const override { return kDeepSeekSpellings; }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"fp8", "mxfp8"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    const Json& block = folder.quantizationConfig();
    const std::string method = stringAt(block, "quant_method");
    if ((method == "fp8" || method == "mxfp8") && !memberAt(block, {"weight_block_size"}).is_null())
      return fmt::format("config.json: quant_method is {}, with weight_block_size", method);
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const Json& block = readableQuantization(folder);
    // MiniMax uses the key ignored_layers; readers accept both.
    const char* key = memberAt(block, {"modules_to_not_convert"}).is_null()
                          ? "ignored_layers"
                          : "modules_to_not_convert";
    const NamePatterns plain(stringsAt(block, key), PatternStyle::NameOrRegex, key, findings);
    std::string badSize;
    Claim quantized;
    quantized.source = "config.json: weight_block_size";
    if (!block.is_null()) {
      quantized.kind = Claim::Kind::Quantized;
      // Routers and small projections stay plain although no list names them: DeepSeek's code
      // determines which.
      quantized.reach = Claim::Reach::Some;
      const Json& size = memberAt(block, {"weight_block_size"});
      const auto extent = [&](std::size_t i) -> std::int64_t {
        return size.is_array() && size.size() == 2 && size[i].is_number_unsigned() &&
                       size[i].get<std::uint64_t>() <= (1u << 30)
                   ? size[i].get<std::int64_t>()
                   : 0;
      };
      if (extent(0) > 0 && extent(1) > 0)
        quantized.block = {extent(0), extent(1)};
      else
        badSize = size.dump(-1, ' ', false, Json::error_handler_t::replace);
      if (!badSize.empty())
        findings.push_back(finding("bad-configuration", "config.json", "",
                                   fmt::format("weight_block_size is {}; two positive extents are "
                                               "expected",
                                               badSize)));
      if (stringAt(block, "activation_scheme") == "static")
        findings.push_back(finding(
            "bad-configuration", "config.json", "",
            "activation_scheme is static; with weight_block_size readers accept only dynamic"));
      // MXFP8 uses this key too, with [1, 32]; the experts of DeepSeek-V4 are FP4 beside it.
      const bool mixed = expertLabel(folder).value == "fp4";
      const bool rows = quantized.block && *quantized.block == std::array<std::int64_t, 2>{1, 32};
      quantized.activations =
          activationsFor(rows ? "mxfp8_e4m3" : "fp8_block", Activations::Kind::Dynamic);
      if (!mixed)
        quantized.format = rows ? "mxfp8_e4m3" : "fp8_block";
      else if (quantized.block == std::array<std::int64_t, 2>{128, 128})
        quantized.block.reset();
    }
    Inventory inventory = scanLayers(
        folder, kDeepSeekSpellings,
        [&](std::string_view module) {
          if (!plain.match(module))
            return quantized;
          Claim claim;
          claim.kind = Claim::Kind::Plain;
          claim.source = std::string("config.json: ") + key;
          return claim;
        },
        findings);
    reportUnused(folder, plain, key, findings);
    if (!badSize.empty())
      inventory.doubts.push_back({Doubt::BlockSize, (folder.path() / "config.json").string(), "",
                                  "weight_block_size of two positive extents", badSize});
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer> layers) const override {
    for (ChosenLayer& layer : layers)
      layer.activations = activationsFor(layer.format->name, Activations::Kind::Dynamic);
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    Json block = {{"activation_scheme", "dynamic"},
                  {"fmt", "e4m3"},
                  {"quant_method", "fp8"},
                  {"weight_block_size", {128, 128}}};
    if (!choice.ignored.empty())
      block["modules_to_not_convert"] = choice.ignored;
    const bool isLabelled =
        isOfDeepSeekV4(config) || !modelMember(config, "expert_dtype").is_null();
    setQuantization(config, std::move(block));
    if (isLabelled)
      config["expert_dtype"] = "fp8";
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& deepSeekLayout() {
  static const DeepSeek layout;
  return layout;
}

} // namespace octavo::checkpoint
