// AMD Quark's checkpoints: one configuration for all layers, and others for patterns of names.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace octavo::checkpoint {

namespace {

using Kind = Activations::Kind;

constexpr ElementSpelling kE4M3 = {"*", "F8_E4M3", ElementShape::Logical};
constexpr ElementSpelling kE5M2 = {"*", "F8_E5M2", ElementShape::Logical};
constexpr ElementSpelling kQuarkPacked = {"*", "U8", ElementShape::PackedBytes};
constexpr ScaleSpelling kBytes = {"*_scale", "U8", ScaleShape::Grid};
constexpr ScaleSpelling kQuarkInput = {"input_scale", "", ScaleShape::Scalar};

constexpr auto kQuarkSpellings = std::to_array<LayerSpelling>({
    {"fp8_tensor", kE4M3, {"*_scale", "", ScaleShape::Scalar}, {}, kQuarkInput},
    {"fp8_row", kE4M3, {"*_scale", "", ScaleShape::Rows}, {}, kQuarkInput},
    {"fp8_group", kE4M3, {"*_scale", "", ScaleShape::Grid}},
    {"fp8_block", kE4M3, {"*_scale", "", ScaleShape::Grid}, {}, kQuarkInput, Access::ReadOnly},
    {"fp8_block", kE4M3, kBytes, {}, kQuarkInput, Access::ReadOnly},
    {"mxfp8_e4m3", kE4M3, kBytes, {}, kQuarkInput},
    {"mxfp8_e5m2", kE5M2, kBytes, {}, kQuarkInput},
    {"mxfp6_e3m2", kQuarkPacked, kBytes, {}, kQuarkInput},
    {"mxfp6_e2m3", kQuarkPacked, kBytes, {}, kQuarkInput},
    {"mxfp4", kQuarkPacked, kBytes, {}, kQuarkInput},
    {"nvfp4",
     kQuarkPacked,
     {"*_scale", "F8_E4M3", ScaleShape::Grid},
     {"*_scale_2", "F32", ScaleShape::Scalar},
     {"input_scale_2", "F32", ScaleShape::Scalar},
     Access::ReadOnly},
});

/// How a `weight` or `input_tensors` object describes a format.
struct Specification {
  std::string_view row, dtype, scheme;
  std::int64_t group; ///< elements of a group; 0: not grouped
};
// quark/torch/quantization/config/type.py, config.py; vLLM quantization/quark.
constexpr auto kSpecifications = std::to_array<Specification>({
    {"fp8_tensor", "fp8_e4m3", "per_tensor", 0},
    {"fp8_row", "fp8_e4m3", "per_channel", 0},
    {"fp8_group", "fp8_e4m3", "per_group", 128},
    {"fp8_block", "fp8_e4m3", "per_block", 0}, // extents in block_size
    {"mxfp8_e4m3", "fp8_e4m3", "per_group", 32},
    {"mxfp8_e5m2", "fp8_e5m2", "per_group", 32},
    {"mxfp6_e3m2", "fp6_e3m2", "per_group", 32},
    {"mxfp6_e2m3", "fp6_e2m3", "per_group", 32},
    {"mxfp4", "fp4", "per_group", 32},
});

/// Rotations applied at run time: R3 and R4 of the four, which QuaRot applies by default, and those
/// under a key "online".
std::vector<std::string> transformsOf(const Json& block) {
  std::vector<std::string> found;
  const Json& algorithms = memberAt(block, {"algo_config"});
  for (const Json& each : algorithms.is_array() ? algorithms : Json::array({algorithms})) {
    if (!each.is_object())
      continue;
    const std::string name = stringAt(each, "name");
    const auto isSet = [&](const char* key, bool otherwise) {
      const auto value = each.find(key);
      return value != each.end() && value->is_boolean() ? value->get<bool>() : otherwise;
    };
    for (const char* rotation : {"r3", "r4"})
      if (isSet(rotation, name == "quarot"))
        found.push_back(fmt::format("{} with {}", name, rotation));
    for (const auto& [key, value] : each.items())
      if (key.starts_with("online") && isSet(key.c_str(), false))
        found.push_back(fmt::format("{} with {}", name, key));
  }
  return found;
}

/// block_size if it has two extents; else nullopt.
std::optional<std::array<std::int64_t, 2>> blockSize(const Json& weight) {
  const Json& size = memberAt(weight, {"block_size"});
  if (!size.is_array() || size.size() != 2)
    return std::nullopt;
  std::array<std::int64_t, 2> block{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (!size[axis].is_number_unsigned() || size[axis].get<std::uint64_t>() == 0 ||
        size[axis].get<std::uint64_t>() > (1u << 30))
      return std::nullopt;
    block[axis] = size[axis].get<std::int64_t>();
  }
  return block;
}

/// FP4 in groups of 16 with FP8 scales under an outer scale: weight_scale times weight_scale_2
/// (export/nn/modules/realquantizer.py, SequentialRealQuantizer).
bool isTwoStageNvfp4(const Json& weight) {
  if (!weight.is_array() || weight.size() != 2)
    return false;
  const Json& scales = weight[1];
  return stringAt(weight[0], "dtype") == "fp4" && stringAt(weight[0], "qscheme") == "per_group" &&
         integerAt(weight[0], "group_size") == 16 &&
         stringAt(weight[0], "scale_format") != "e8m0" && stringAt(scales, "dtype") == "fp8_e4m3" &&
         stringAt(scales, "qscheme") == "per_tensor" &&
         memberAt(scales, {"is_scale_quant"}) == Json(true);
}

/// The claim of one layer's configuration; Unsupported with the reason in `source`.
Claim readLayer(const Json& layer, const std::string& where) {
  Claim claim;
  claim.source = where;
  const Json& weight = memberAt(layer, {"weight"});
  if (weight.is_null()) {
    claim.kind = Claim::Kind::Plain;
    return claim;
  }
  const auto refuse = [&](std::string reason) {
    claim.kind = Claim::Kind::Unsupported;
    claim.source = std::move(reason);
    return claim;
  };
  if (isTwoStageNvfp4(weight)) {
    claim.kind = Claim::Kind::Quantized;
    claim.format = "nvfp4";
    const Json& input = memberAt(layer, {"input_tensors"});
    // Two-stage activations compute their outer scale at run time.
    if (!input.is_null())
      claim.activations = activationsFor(claim.format, Kind::Dynamic);
    return claim;
  }
  if (!weight.is_object())
    return refuse("weights with two levels of quantization, other than FP4 in groups of 16 under "
                  "scales of FP8");
  const std::string dtype = stringAt(weight, "dtype"), scheme = stringAt(weight, "qscheme");
  if (dtype == "mx" || dtype == "mx6" || dtype == "mx9")
    return refuse(fmt::format("dtype {} interleaves a signed exponent with the elements of each "
                              "block; newer Quark writes fp4, fp6 and fp8 with scale_format e8m0",
                              inQuotes(dtype)));
  const bool powers = stringAt(weight, "scale_format") == "e8m0";
  const std::optional<std::int64_t> group = integerAt(weight, "group_size");
  for (const Specification& row : kSpecifications) {
    const format::ScaledFormat& format = *format::findScaledFormat(row.row);
    if (row.dtype != dtype || row.scheme != scheme)
      continue;
    const bool rowPowers = *format.scale == format::element("e8m0fnu");
    if (row.group != 0 && rowPowers != powers)
      continue;
    if (row.group != 0 && group != row.group) {
      if (!group || *group <= 0 || *group > (1 << 30))
        continue;
      claim.block = {1, *group};
    }
    if (scheme == "per_block") {
      const std::optional<std::array<std::int64_t, 2>> size = blockSize(weight);
      if (!size)
        continue;
      claim.block = size;
    }
    claim.format = row.row;
    break;
  }
  if (claim.format.empty())
    return refuse(fmt::format("dtype {}, qscheme {}, group_size {}, scale_format {}",
                              inQuotes(dtype), inQuotes(scheme),
                              group ? std::to_string(*group) : "null",
                              inQuotes(stringAt(weight, "scale_format"))) +
                  (scheme == "per_block"
                       ? fmt::format(", block_size {}",
                                     memberAt(weight, {"block_size"})
                                         .dump(-1, ' ', false, Json::error_handler_t::replace))
                       : ""));
  claim.kind = Claim::Kind::Quantized;
  const Json& input = memberAt(layer, {"input_tensors"});
  if (input.is_object()) {
    const Json& dynamic = memberAt(input, {"is_dynamic"});
    const bool isDynamic = dynamic.is_boolean() && dynamic.get<bool>();
    claim.activations = activationsFor(claim.format, isDynamic ? Kind::Dynamic : Kind::Static);
    const Claim ofInput = readLayer({{"weight", input}}, "");
    if (!ofInput.format.empty())
      claim.activations.format = format::findScaledFormat(ofInput.format);
  }
  return claim;
}

Json writeTensor(const Specification& row, bool dynamic) {
  const format::ScaledFormat& format = *format::findScaledFormat(row.row);
  const bool powers = *format.scale == format::element("e8m0fnu");
  return {{"dtype", row.dtype},
          {"is_dynamic", dynamic},
          {"qscheme", row.scheme},
          {"ch_axis", row.scheme == "per_channel" ? Json(0)
                      : row.group                 ? Json(-1)
                                                  : Json(nullptr)},
          {"group_size", row.group ? Json(row.group) : Json(nullptr)},
          {"symmetric", powers ? Json(nullptr) : Json(true)},
          {"round_method", "half_even"},
          {"scale_type", "float"},
          {"scale_format", powers ? Json("e8m0") : Json(nullptr)},
          {"scale_calculation_mode", powers ? Json("even") : Json(nullptr)},
          {"mx_element_dtype", nullptr},
          {"observer_cls", powers                        ? "PerBlockMXObserver"
                           : row.group                   ? "PerGroupMinMaxObserver"
                           : row.scheme == "per_channel" ? "PerChannelMinMaxObserver"
                                                         : "PerTensorMinMaxObserver"},
          {"is_scale_quant", false}};
}

const Specification& specificationOf(std::string_view row) {
  return *std::ranges::find(kSpecifications, row, &Specification::row);
}

/// Per-row activations are per token and exist only at run time, and so do blocks.
Activations sayActivations(const format::ScaledFormat& weights, Activations wanted) {
  switch (wanted.kind) {
  case Kind::None:
    return {};
  case Kind::Static:
    return {Kind::Static, format::findScaledFormat("fp8_tensor")};
  case Kind::Dynamic:
    break;
  }
  const bool isBlocked = specificationOf(weights.name).group != 0;
  const bool hasOwn =
      wanted.format && std::ranges::find(kSpecifications, wanted.format->name,
                                         &Specification::row) != std::end(kSpecifications);
  const std::string_view own = hasOwn ? wanted.format->name : weights.activation;
  return {Kind::Dynamic, format::findScaledFormat(isBlocked ? own : "fp8_row")};
}

Json writeLayer(const format::ScaledFormat& format, const Activations& activations) {
  const Specification& weight = specificationOf(format.name);
  Json input;
  if (activations.kind != Kind::None) {
    input =
        writeTensor(specificationOf(activations.format->name), activations.kind == Kind::Dynamic);
    if (activations.format->name == "fp8_row")
      input["ch_axis"] = 1;
  }
  return {{"input_tensors", std::move(input)},
          {"output_tensors", nullptr},
          {"weight", writeTensor(weight, false)},
          {"bias", nullptr},
          {"target_device", nullptr}};
}

class Quark : public Layout {
public:
  std::string_view name() const override { return "quark"; }
  std::string_view description() const override {
    return "AMD Quark's checkpoints: FP8, MXFP8, MXFP6 and MXFP4.";
  }
  std::string_view source() const override {
    return "Quark 0.13 torch/export, torch/utils/pack.py; vLLM quantization/quark";
  }
  std::span<const LayerSpelling> spellings() const override { return kQuarkSpellings; }
  KvSpelling kvSpelling() const override {
    return {.key = "k_proj.output_scale",
            .value = "v_proj.output_scale",
            .query = "q_proj.output_scale"};
  }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"quark"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    if (stringAt(folder.quantizationConfig(), "quant_method") == "quark")
      return "config.json: quant_method is quark";
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const Json& block = readableQuantization(folder);
    const NamePatterns excluded(stringsAt(block, "exclude"), PatternStyle::Wildcards, "exclude",
                                findings);
    const auto layerClaim = [&](const Json& layer, const std::string& where) {
      Claim claim = readLayer(layer, "config.json: " + where);
      if (claim.kind == Claim::Kind::Unsupported)
        findings.push_back(
            finding("unsupported-format", "config.json", "", where + ": " + claim.source));
      return claim;
    };
    Claim common;
    if (block.is_object())
      common = layerClaim(memberAt(block, {"global_quant_config"}), "global_quant_config");
    const Json& types = memberAt(block, {"layer_type_quant_config"});
    if (const Json& linear = memberAt(types, {"Linear"}); linear.is_object())
      common = layerClaim(linear, "layer_type_quant_config.Linear");

    std::vector<std::string> patterns;
    std::vector<Claim> claims;
    if (const Json& layers = memberAt(block, {"layer_quant_config"}); layers.is_object())
      for (const auto& [pattern, layer] : layers.items()) {
        patterns.push_back(pattern);
        claims.push_back(layerClaim(layer, "layer_quant_config." + pattern));
      }
    const NamePatterns named(patterns, PatternStyle::Wildcards, "layer_quant_config", findings);

    Inventory inventory = scanLayers(
        folder, kQuarkSpellings,
        [&](std::string_view module) {
          if (excluded.match(module)) {
            Claim claim;
            claim.kind = Claim::Kind::Plain;
            claim.source = "config.json: exclude";
            return claim;
          }
          if (const auto entry = named.match(module)) {
            Claim claim = claims[*entry];
            if (patterns[*entry] == module)
              claim.reach = Claim::Reach::Name;
            return claim;
          }
          return common;
        },
        findings);
    reportUnused(folder, excluded, "exclude", findings);
    reportUnused(folder, named, "layer_quant_config", findings);
    reportTransforms(transformsOf(block), "algo_config", inventory, findings);
    const Json& group = memberAt(block, {"export", "kv_cache_group"});
    const Json& ofCache = memberAt(block, {"kv_cache_quant_config"});
    if ((group.is_array() && !group.empty()) || (ofCache.is_object() && !ofCache.empty()))
      inventory.kvCacheFormat = "fp8";
    if (const std::string version = stringAt(block, "version"); !version.empty())
      inventory.quantizer = "quark " + version;
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer> layers) const override {
    settleEach(layers, sayActivations);
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    const std::vector<ChosenGroup> chosen = groupByFormat(choice);
    Json common = chosen.empty() ? Json{{"weight", nullptr}, {"input_tensors", nullptr}}
                                 : writeLayer(*chosen.front().format, chosen.front().activations);
    std::vector<std::pair<std::string, Json>> layers;
    for (std::size_t i = 1; i < chosen.size(); ++i)
      for (const std::string& module : chosen[i].modules)
        layers.emplace_back(module, writeLayer(*chosen[i].format, chosen[i].activations));
    Json kvGroup = Json::array(), ofCache = Json::object();
    if (choice.kvScales)
      // Readers derive the cache's format from the outputs of these layers.
      for (const char* pattern : {"*k_proj", "*v_proj"}) {
        kvGroup.push_back(pattern);
        ofCache[pattern] = common;
        ofCache[pattern]["output_tensors"] = writeTensor(specificationOf("fp8_tensor"), false);
        layers.emplace_back(pattern, ofCache[pattern]);
      }
    setQuantization(config, {{"global_quant_config", std::move(common)},
                             {"exclude", choice.ignored},
                             {"algo_config", nullptr},
                             {"softmax_quant_spec", nullptr},
                             {"quant_method", "quark"},
                             {"layer_type_quant_config", Json::object()},
                             {"layer_quant_config", objectOf(std::move(layers))},
                             {"kv_cache_quant_config", std::move(ofCache)},
                             {"kv_cache_post_rope", false},
                             {"quant_mode", "eager_mode"},
                             {"export",
                              {{"kv_cache_group", std::move(kvGroup)},
                               {"min_kv_scale", 0.0},
                               {"pack_method", "reorder"},
                               {"weight_format", "real_quantized"},
                               {"weight_merge_groups", nullptr}}}});
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& quarkLayout() {
  static const Quark layout;
  return layout;
}

} // namespace octavo::checkpoint
