// MLX's files (mlx/nn/layers/quantized.py, mlx-lm utils.py): codes packed in 32-bit words, `scales`
// beside them, and the key `quantization` in config.json.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace octavo::checkpoint {

namespace {

constexpr ElementSpelling kWords = {"*", "U32", ElementShape::PackedWords};
constexpr ScaleSpelling kMlxScales = {"scales", "U8", ScaleShape::Grid};
// MLX's NVFP4 has no outer scale: it is 1. The documentation prints the table without that row.
constexpr auto kMlxSpellings = std::to_array<LayerSpelling>({
    {"mxfp4", kWords, kMlxScales, {}, {}, Access::ReadOnly},
    {"mxfp8_e4m3", kWords, kMlxScales, {}, {}, Access::ReadOnly},
    {"nvfp4", kWords, kMlxScales, {}, {}, Access::ReadOnly},
});

struct MlxMode {
  std::string_view mode, row;
};
constexpr auto kModes =
    std::to_array<MlxMode>({{"mxfp4", "mxfp4"}, {"mxfp8", "mxfp8_e4m3"}, {"nvfp4", "nvfp4"}});

bool isQuantization(const Json& block) {
  return integerAt(block, "group_size") && integerAt(block, "bits") &&
         memberAt(block, {"quant_method"}).is_null();
}

/// The block that describes MLX's quantization; null if there is none.
const Json& blockOf(const Folder& folder) {
  static const Json none;
  for (const char* key : {"quantization", "quantization_config"})
    if (const Json& block = memberAt(folder.config(), {key}); isQuantization(block))
      return block;
  return none;
}

/// The claim of the block, or of a module's own block in it.
Claim claimOf(const Json& block, const std::string& source) {
  const Json& stated = memberAt(block, {"mode"});
  const std::string mode = stated.is_null() ? "affine" : stringAt(block, "mode");
  const auto* row = std::ranges::find(kModes, mode, &MlxMode::mode);
  Claim claim;
  claim.reach = Claim::Reach::Some; // norms and embeddings may be plain, and no list names them
  claim.kind = row == kModes.end() ? Claim::Kind::Unsupported : Claim::Kind::Quantized;
  claim.source = fmt::format("{}: MLX's mode {}", source, inQuotes(mode));
  if (row != kModes.end())
    claim.format = row->row;
  return claim;
}

class Mlx : public Layout {
public:
  std::string_view name() const override { return "mlx"; }
  std::string_view description() const override {
    return "MLX's own files: MXFP4 and MXFP8 in words of 32 bits, and NVFP4 without an outer "
           "scale.";
  }
  std::string_view source() const override { return "MLX nn/layers/quantized.py; mlx-lm utils.py"; }
  std::span<const LayerSpelling> spellings() const override {
    return std::span(kMlxSpellings).first(2);
  }

  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    if (blockOf(folder).is_object())
      return "config.json: a quantization of MLX's, with group_size and bits";
    return std::nullopt;
  }
  std::optional<std::string> detectByTensors(const Folder& folder) const override {
    if (countExactLayers(folder, kMlxSpellings) == 0)
      return std::nullopt;
    return "weights in words of 32 bits, and scales of bytes beside them";
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const Json& block = blockOf(folder);
    std::unordered_map<std::string_view, const Json*> own;
    if (block.is_object())
      for (const auto& [key, value] : block.items())
        if (value.is_object() || value.is_boolean())
          own.emplace(key, &value);
    Inventory inventory = scanLayers(
        folder, kMlxSpellings,
        [&](std::string_view module) {
          if (!block.is_object())
            return Claim{};
          const auto found = own.find(module);
          const Json& said = found == own.end() ? block : *found->second;
          if (said.is_boolean() && !said.get<bool>()) {
            Claim claim;
            claim.kind = Claim::Kind::Plain;
            claim.source = "config.json: quantization";
            return claim;
          }
          return claimOf(said.is_object() ? said : block, "config.json: quantization");
        },
        findings);
    addForeignCodes(folder, "MLX", inventory);
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer>) const override {}
  /// octavo does not write this layout.
  void configure(const LayoutChoice&, Json&, Json&) const override {}
};

} // namespace

const Layout& mlxLayout() {
  static const Mlx layout;
  return layout;
}

} // namespace octavo::checkpoint
