// torchao's tensors in safetensors (torchao/prototype/safetensors): m.weight is stored as
// m._weight_qdata, m._weight_scale, ...; the header has the class and attributes of each tensor.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace octavo::checkpoint {

namespace {

constexpr ElementSpelling kAoFloats = {"*_qdata", "F8_E4M3", ElementShape::Logical};
constexpr ElementSpelling kAoBytes = {"*_qdata", "U8", ElementShape::PackedBytes};
constexpr ElementSpelling kAoF4 = {"*_qdata", "F4", ElementShape::Logical};
constexpr ScaleSpelling kAoOuter = {"*_per_tensor_scale", "F32", ScaleShape::Scalar};
constexpr ScaleSpelling kAoInput = {"*_act_per_tensor_scale", "F32", ScaleShape::Scalar};

constexpr LayerSpelling readOnly(std::string_view format, ElementSpelling elements,
                                 std::string_view dtype, ScaleShape shape) {
  return {format, elements, {"*_scale", dtype, shape}, {}, {}, Access::ReadOnly};
}
constexpr LayerSpelling nvfp4(ElementSpelling elements, ScaleShape shape) {
  return {"nvfp4", elements, {"*_scale", "F8_E4M3", shape}, kAoOuter, kAoInput, Access::ReadOnly};
}
constexpr LayerSpelling nvfp4Alone(ElementSpelling elements, ScaleShape shape) {
  return readOnly("nvfp4", elements, "F8_E4M3", shape);
}

// The last four rows have no outer scale (NVFP4Tensor without per_tensor_scale): it is 1. The
// documentation prints the table without them.
constexpr auto kAoSpellings = std::to_array<LayerSpelling>({
    readOnly("fp8_tensor", kAoFloats, "F32", ScaleShape::Scalar),
    readOnly("fp8_row", kAoFloats, "F32", ScaleShape::Column),
    readOnly("fp8_group", kAoFloats, "F32", ScaleShape::Grid),
    readOnly("fp8_block", kAoFloats, "F32", ScaleShape::Grid),
    readOnly("mxfp8_e4m3", kAoFloats, "F8_E8M0", ScaleShape::Grid),
    readOnly("mxfp8_e4m3", kAoFloats, "F8_E8M0", ScaleShape::Tiles),
    readOnly("mxfp4", kAoBytes, "F8_E8M0", ScaleShape::Grid),
    readOnly("mxfp4", kAoBytes, "F8_E8M0", ScaleShape::Tiles),
    readOnly("mxfp4", kAoF4, "F8_E8M0", ScaleShape::Grid),
    readOnly("mxfp4", kAoF4, "F8_E8M0", ScaleShape::Tiles),
    nvfp4(kAoBytes, ScaleShape::Grid),
    nvfp4(kAoBytes, ScaleShape::Tiles),
    nvfp4(kAoF4, ScaleShape::Grid),
    nvfp4(kAoF4, ScaleShape::Tiles),
    nvfp4Alone(kAoBytes, ScaleShape::Grid),
    nvfp4Alone(kAoBytes, ScaleShape::Tiles),
    nvfp4Alone(kAoF4, ScaleShape::Grid),
    nvfp4Alone(kAoF4, ScaleShape::Tiles),
});

constexpr const char* kNames = "tensor_names";
constexpr auto kAoClasses =
    std::to_array<std::string_view>({"Float8Tensor", "MXTensor", "NVFP4Tensor"});

/// Whether a header is torchao's: it has a list of names, and tensors with a class.
bool isOfTorchAo(const SafetensorsFile& file) {
  return std::ranges::any_of(file.metadata(),
                             [](const auto& each) { return each.first == kNames; }) &&
         std::ranges::any_of(file.metadata(), [](const auto& each) {
           return each.second.find("\"_type\"") != std::string::npos;
         });
}

/// The headers' descriptions of tensors, by module and parameter: "m" for "m.weight".
std::map<std::string, Json, std::less<>> readTensors(const Folder& folder) {
  std::map<std::string, Json, std::less<>> tensors;
  for (std::size_t i = 0; i < folder.shardNames().size(); ++i) {
    if (!isOfTorchAo(folder.shard(i)))
      continue;
    for (const auto& [key, value] : folder.shard(i).metadata())
      if (key != kNames && key.ends_with(".weight") && value.starts_with("{"))
        if (auto said = parseJson(value, key))
          tensors.insert_or_assign(std::string(moduleOf(key)), std::move(*said));
  }
  return tensors;
}

/// Claims blocks of more than a row or less than one, which shapes alone do not determine.
void claimBlocks(const Json& data, const StoredTensor* scale, Claim& claim) {
  const Json& size = memberAt(data, {"block_size"});
  if (!scale || !size.is_array() || size.size() != 2 || !size[0].is_number_unsigned() ||
      !size[1].is_number_unsigned())
    return;
  constexpr std::uint64_t kMost = 1u << 30;
  const auto across = size[0].get<std::uint64_t>(), along = size[1].get<std::uint64_t>();
  const std::vector<std::int64_t>& grid = scale->entry->shape;
  if (across == 0 || along == 0 || across > kMost || along > kMost || grid.size() != 2)
    return;
  if (across > 1 ? grid[0] > 1 || grid[1] > 1 : grid[1] > 1) {
    claim.kind = Claim::Kind::Quantized;
    claim.format = across > 1 ? "fp8_block" : "fp8_group";
    claim.block = {static_cast<std::int64_t>(across), static_cast<std::int64_t>(along)};
  }
}

/// Refuses layers of which the file lacks a part that the header lists: without its outer scale,
/// for example, another format of the same class would fit, with other values.
void refuseLostParts(const Folder& folder, const Json& said, Layer& layer, Inventory& inventory,
                     Findings& findings) {
  const Json& parts = memberAt(said, {"_tensor_data_names"});
  if (!parts.is_array() || !layer.parameter.starts_with('_'))
    return;
  for (const Json& part : parts) {
    if (!part.is_string())
      continue;
    const std::string name =
        tensorName(layer.name, layer.parameter, "*_" + part.get<std::string>());
    if (folder.find(name))
      continue;
    const StoredTensor& elements = layer.elements.tensor;
    findings.push_back(
        finding("missing-scale", elements.shard->name(), elements.name(),
                fmt::format("the header lists {}, which is not there", inQuotes(name))));
    layer.unapplied = fmt::format("{} is listed in the header and not there", inQuotes(name));
    inventory.unread.push_back({elements.name(), layer.unapplied,
                                "copy or download the file again, or write it again with torchao"});
  }
}

class TorchAo : public Layout {
public:
  std::string_view name() const override { return "torchao"; }
  std::string_view description() const override {
    return "torchao's flattened tensors: FP8, MXFP8, MXFP4 and NVFP4, this with or without an "
           "outer scale.";
  }
  std::string_view source() const override {
    return "torchao prototype/safetensors, prototype/mx_formats";
  }
  std::span<const LayerSpelling> spellings() const override {
    return std::span(kAoSpellings).first(kAoSpellings.size() - 4);
  }

  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    for (std::size_t i = 0; i < folder.shardNames().size(); ++i)
      if (isOfTorchAo(folder.shard(i)))
        return fmt::format("the header of {} has torchao's {}", folder.shardNames()[i], kNames);
    return std::nullopt;
  }
  /// Never by tensors: only the header gives the order of scales.
  std::optional<std::string> detectByTensors(const Folder&) const override { return std::nullopt; }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const auto tensors = readTensors(folder);
    Inventory inventory = scanLayers(
        folder, kAoSpellings,
        [&](std::string_view module) {
          Claim claim;
          const auto said = tensors.find(module);
          if (said == tensors.end())
            return claim;
          const std::string type = stringAt(said->second, "_type");
          claim.source = fmt::format("the header: {} is a {}", inQuotes(module), inQuotes(type));
          if (std::ranges::find(kAoClasses, type) == kAoClasses.end()) {
            claim.kind = type == "Tensor" ? Claim::Kind::Unsaid : Claim::Kind::Unsupported;
            return claim;
          }
          const Json& data = memberAt(said->second, {"_data"});
          const Json& swizzled = memberAt(data, {"is_swizzled_scales"});
          if (swizzled.is_boolean())
            claim.tiled = swizzled.get<bool>();
          if (type == kAoClasses[0])
            claimBlocks(data, folder.find(tensorName(module, "_weight", "*_scale")), claim);
          return claim;
        },
        findings);
    addForeignCodes(folder, "torchao", inventory);
    for (Layer& layer : inventory.layers)
      if (const auto said = tensors.find(layer.name); said != tensors.end())
        refuseLostParts(folder, said->second, layer, inventory, findings);
    // The parameter's name is the one whose parts these are, without the underscore.
    for (Layer& layer : inventory.layers)
      if (layer.parameter.starts_with('_'))
        layer.parameter.erase(0, 1);
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer>) const override {}
  /// octavo does not write this layout.
  void configure(const LayoutChoice&, Json&, Json&) const override {}
};

} // namespace

const Layout& torchAoLayout() {
  static const TorchAo layout;
  return layout;
}

} // namespace octavo::checkpoint
