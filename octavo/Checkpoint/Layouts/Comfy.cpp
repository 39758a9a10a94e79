// ComfyUI's files of image and video models (comfy/quant_ops.py, comfy/utils.py:convert_old_quants,
// comfy-kitchen): a single file without configuration. The header has _quantization_metadata, or
// each module has a tensor comfy_quant with the same content. The first scaled files have other
// names and a tensor scaled_fp8. NVFP4 and MXFP8 have ModelOpt's names, dtypes and shapes, but the
// even element is in the high four bits, and block scales are in cuBLAS tiles.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <fmt/format.h>

#include <map>

namespace octavo::checkpoint {

namespace {

constexpr const char* kMetadataKey = "_quantization_metadata";
constexpr std::string_view kMarker = ".comfy_quant", kOldMarker = "scaled_fp8";

constexpr ElementSpelling kComfyWeight = {"*", "F8_E4M3", ElementShape::Logical};
constexpr ScaleSpelling kComfyInput = {"input_scale", "F32", ScaleShape::Scalar};
constexpr auto kComfySpellings = std::to_array<LayerSpelling>({
    {"fp8_tensor",
     kComfyWeight,
     {"scale_weight", "F32", ScaleShape::One},
     {},
     {"scale_input", "F32", ScaleShape::One},
     Access::ReadOnly},
    {"fp8_tensor",
     kComfyWeight,
     {"*_scale", "F32", ScaleShape::Scalar},
     {},
     kComfyInput,
     Access::ReadOnly},
    {"mxfp8_e4m3",
     kComfyWeight,
     {"*_scale", "U8", ScaleShape::Tiles},
     {},
     kComfyInput,
     Access::ReadOnly},
    {"nvfp4",
     {"*", "U8", ElementShape::HighFirst},
     {"*_scale", "F8_E4M3", ScaleShape::Tiles},
     {"*_scale_2", "F32", ScaleShape::Scalar},
     kComfyInput,
     Access::ReadOnly},
});

struct ComfyFormat {
  std::string_view name, row;
};
constexpr auto kComfyFormats = std::to_array<ComfyFormat>({{"float8_e4m3fn", "fp8_tensor"},
                                                           {"float8_e5m2", "fp8_tensor"},
                                                           {"mxfp8", "mxfp8_e4m3"},
                                                           {"nvfp4", "nvfp4"}});

const std::string* headerText(const SafetensorsFile& file) {
  for (const auto& [key, value] : file.metadata())
    if (key == kMetadataKey)
      return &value;
  return nullptr;
}

bool isMarker(const StoredTensor& tensor) { return tensor.name().ends_with(kMarker); }

/// The format of each module as headers and markers state it: a format's name, or the unknown text
/// found instead.
std::map<std::string, std::string, std::less<>> readFormats(const Folder& folder,
                                                            Findings& findings) {
  std::map<std::string, std::string, std::less<>> formats;
  const auto add = [&](const std::string& module, const Json& entry) {
    const std::string format = stringAt(entry, "format");
    formats.insert_or_assign(
        module,
        format.empty() ? entry.dump(-1, ' ', false, Json::error_handler_t::replace) : format);
  };
  for (std::size_t i = 0; i < folder.shardNames().size(); ++i) {
    const std::string* text = headerText(folder.shard(i));
    if (!text)
      continue;
    const auto said = parseJson(*text, kMetadataKey);
    const Json& layers = said ? memberAt(*said, {"layers"}) : Json();
    if (!layers.is_object())
      findings.push_back(
          finding("bad-configuration", folder.shardNames()[i], "",
                  fmt::format("{} of its header is no object with layers", kMetadataKey)));
    else
      for (const auto& [module, entry] : layers.items())
        add(module, entry);
  }
  constexpr std::uint64_t kMostBytes = 4096;
  for (const StoredTensor& tensor : folder.tensors()) {
    if (!isMarker(tensor) || tensor.size() > kMostBytes)
      continue;
    const auto bytes = tensor.bytes();
    const auto said = bytes
                          ? parseJson({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                                      tensor.name())
                          : tl::expected<Json, Error>(Json());
    add(std::string(moduleOf(tensor.name())), said ? *said : Json());
  }
  return formats;
}

class Comfy : public Layout {
public:
  std::string_view name() const override { return "comfyui"; }
  std::string_view description() const override {
    return "ComfyUI's single files: scaled FP8, and MXFP8 and NVFP4 with scales in cuBLAS' tiles.";
  }
  std::string_view source() const override {
    return "ComfyUI comfy/quant_ops.py, comfy/utils.py; comfy-kitchen";
  }
  std::span<const LayerSpelling> spellings() const override { return kComfySpellings; }

  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    for (std::size_t i = 0; i < folder.shardNames().size(); ++i)
      if (headerText(folder.shard(i)))
        return fmt::format("the header of {} has {}", folder.shardNames()[i], kMetadataKey);
    for (const StoredTensor& tensor : folder.tensors())
      if (isMarker(tensor) || lastComponent(tensor.name()) == kOldMarker)
        return fmt::format("there is a tensor {}", inQuotes(tensor.name()));
    return std::nullopt;
  }
  std::optional<std::string> detectByTensors(const Folder& folder) const override {
    for (const StoredTensor& tensor : folder.tensors())
      if (lastComponent(tensor.name()) == kComfySpellings.front().scales.name)
        return fmt::format("there is a tensor {}", inQuotes(tensor.name()));
    // Without tiled scales, all other FP8 layouts fit as well, with the same values.
    const std::size_t count = countExactLayers(folder, kComfySpellings);
    if (count == 0 || count == countExactLayers(folder, std::span(kComfySpellings).first(2)))
      return std::nullopt;
    return fmt::format("names, dtypes and shapes of {} weights and their scales in cuBLAS' tiles",
                       count);
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const auto formats = readFormats(folder, findings);
    Inventory inventory = scanLayers(
        folder, kComfySpellings,
        [&](std::string_view module) {
          Claim claim;
          const auto said = formats.find(module);
          if (said == formats.end())
            return claim;
          const auto* row = std::ranges::find(kComfyFormats, said->second, &ComfyFormat::name);
          claim.kind =
              row == kComfyFormats.end() ? Claim::Kind::Unsupported : Claim::Kind::Quantized;
          claim.reach = Claim::Reach::Name;
          claim.source = fmt::format("{}: format {}", kMetadataKey, inQuotes(said->second));
          if (row != kComfyFormats.end())
            claim.format = row->row;
          return claim;
        },
        findings);
    addForeignCodes(folder, "ComfyUI", inventory);
    for (Layer& layer : inventory.layers) {
      if (layer.inputScale)
        layer.activations = activationsFor(layer.format ? layer.format->name : "fp8_tensor",
                                           Activations::Kind::Static);
      if (const StoredTensor* marker = folder.find(layer.name + std::string(kMarker)))
        layer.idle.push_back(*marker);
    }
    if (!inventory.layers.empty())
      for (const StoredTensor& tensor : inventory.plain)
        if (lastComponent(tensor.name()) == kOldMarker)
          inventory.layers.front().idle.push_back(tensor);
    for (const Layer& layer : inventory.layers)
      for (const StoredTensor& idle : layer.idle)
        std::erase_if(inventory.plain,
                      [&](const StoredTensor& tensor) { return tensor.entry == idle.entry; });
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer>) const override {}
  /// octavo does not write this layout.
  void configure(const LayoutChoice&, Json&, Json&) const override {}
};

} // namespace

const Layout& comfyLayout() {
  static const Comfy layout;
  return layout;
}

} // namespace octavo::checkpoint
