// quant_method "compressed-tensors": checkpoints of llm-compressor. The configuration has groups of
// targets, each with its own arguments. One table of presets serves reading and writing.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace octavo::checkpoint {

namespace {

constexpr ElementSpelling kCompressedTensorsWeight = {"*", "F8_E4M3", ElementShape::Logical};
constexpr ElementSpelling kCompressedTensorsPacked = {"*_packed", "U8", ElementShape::PackedBytes};
constexpr ScaleSpelling kCompressedTensorsInput = {"input_scale", "", ScaleShape::One};
constexpr ScaleSpelling kBytes = {"*_scale", "U8", ScaleShape::Grid};

constexpr auto kCompressedTensorsSpellings = std::to_array<LayerSpelling>({
    {"fp8_tensor",
     kCompressedTensorsWeight,
     {"*_scale", "", ScaleShape::One},
     {},
     kCompressedTensorsInput},
    {"fp8_row",
     kCompressedTensorsWeight,
     {"*_scale", "", ScaleShape::Column},
     {},
     kCompressedTensorsInput},
    {"fp8_block", kCompressedTensorsWeight, {"*_scale", "", ScaleShape::Grid}},
    {"fp8_group", kCompressedTensorsWeight, {"*_scale", "", ScaleShape::Grid}},
    {"mxfp8_e4m3", kCompressedTensorsWeight, kBytes},
    {"mxfp6_e2m3", kCompressedTensorsPacked, kBytes},
    {"mxfp4", kCompressedTensorsPacked, kBytes},
    {"nvfp4",
     kCompressedTensorsPacked,
     {"*_scale", "F8_E4M3", ScaleShape::Grid},
     {"*_global_scale", "F32", ScaleShape::One, Meaning::Divides},
     {"input_global_scale", "F32", ScaleShape::One, Meaning::Divides}},
});

/// Quantization arguments of the configuration.
struct Arguments {
  std::int64_t bits = 8;
  std::string_view strategy;
  std::int64_t group = 0;
  std::string_view scaleDtype = "";
};

// compressed-tensors quantization/quant_scheme.py (presets), config/base.py (formats).
struct Scheme {
  std::string_view row;    ///< row of the weights' scaled format
  std::string_view format; ///< CompressionFormat
  Arguments weights, dynamicInput;
  std::string_view preset, weightOnlyPreset; ///< names of it in configurations
};
constexpr std::string_view kBytesDtype = "torch.uint8", kE4M3Dtype = "torch.float8_e4m3fn";
constexpr auto kSchemes = std::to_array<Scheme>({
    // clang-format off
    {"fp8_tensor", "float-quantized",      {8, "tensor"},                  {8, "token"},                   "FP8",         ""},
    {"fp8_row",    "float-quantized",      {8, "channel"},                 {8, "token"},                   "FP8_DYNAMIC", ""},
    {"fp8_block",  "float-quantized",      {8, "block"},                   {8, "group", 128},              "FP8_BLOCK",   ""},
    {"fp8_group",  "float-quantized",      {8, "group", 128},              {8, "group", 128},              "",            ""},
    {"mxfp8_e4m3", "mxfp8-quantized",      {8, "group", 32, kBytesDtype},  {8, "group", 32, kBytesDtype},  "MXFP8",       "MXFP8A16"},
    {"mxfp6_e2m3", "mxfp6-pack-quantized", {6, "group", 32, kBytesDtype},  {8, "group", 32, kBytesDtype},  "MXFP6A8",     "MXFP6A16"},
    {"mxfp4",      "mxfp4-pack-quantized", {4, "group", 32, kBytesDtype},  {4, "group", 32, kBytesDtype},  "MXFP4",       "MXFP4A16"},
    {"nvfp4",      "nvfp4-pack-quantized", {4, "tensor_group", 16, kE4M3Dtype}, {4, "tensor_group", 16, kE4M3Dtype}, "NVFP4", "NVFP4A16"},
    // clang-format on
});

const Scheme& schemeOf(std::string_view row) {
  return *std::ranges::find(kSchemes, row, &Scheme::row);
}

/// The format that a `weights` or `input_activations` object describes.
struct Reading {
  std::string_view row; ///< empty: a format that octavo does not have
  std::optional<std::array<std::int64_t, 2>> block;
};

Reading readArguments(const Json& object, std::string_view format) {
  const std::int64_t bits = integerAt(object, "num_bits").value_or(8);
  const std::optional<std::int64_t> group = integerAt(object, "group_size");
  std::string strategy = stringAt(object, "strategy");
  if (strategy.empty())
    strategy = !group ? "tensor" : *group < 0 ? "channel" : "group";
  if (stringAt(object, "type") != "float")
    return {};
  const bool byteScales =
      stringAt(object, "scale_dtype") == kBytesDtype || format.starts_with("mxfp");
  const bool validGroup = group && *group > 0 && *group <= (std::int64_t{1} << 30);
  if (bits == 8) {
    if (strategy == "tensor")
      return {"fp8_tensor", {}};
    if (strategy == "channel" || strategy == "token")
      return {"fp8_row", {}};
    if (strategy == "group" && validGroup)
      return byteScales && *group == 32
                 ? Reading{"mxfp8_e4m3", {}}
                 : Reading{"fp8_group", std::array<std::int64_t, 2>{1, *group}};
    const Json& block = memberAt(object, {"block_structure"});
    if (strategy == "block" && block.is_array() && block.size() == 2 &&
        std::ranges::all_of(block, [](const Json& n) {
          return n.is_number_unsigned() && n.get<std::uint64_t>() > 0 &&
                 n.get<std::uint64_t>() <= (1u << 30);
        }))
      return {"fp8_block", std::array{block[0].get<std::int64_t>(), block[1].get<std::int64_t>()}};
    return {};
  }
  if (bits == 4 && group == 16 && (strategy == "tensor_group" || strategy == "group"))
    return {"nvfp4", {}};
  if (bits == 4 && group == 32 && strategy == "group")
    return {"mxfp4", {}};
  if (bits == 6 && group == 32 && strategy == "group")
    return {"mxfp6_e2m3", {}};
  return {};
}

Activations readActivations(const Json& object, std::string_view format) {
  if (!object.is_object())
    return {};
  const Json& dynamic = memberAt(object, {"dynamic"});
  const Reading reading = readArguments(object, format);
  const bool isDynamic = dynamic.is_boolean() && dynamic.get<bool>();
  return {isDynamic ? Activations::Kind::Dynamic : Activations::Kind::Static,
          format::findScaledFormat(reading.row)};
}

/// Whether `format` packs weights as the row does. For formats of one code a byte any such name is
/// accepted: the scales' dtype decides as well, and older versions use other names.
bool isFormatOf(std::string_view format, const Scheme& scheme) {
  const auto isPacked = [](std::string_view name) { return name.ends_with("pack-quantized"); };
  return format == scheme.format || (!isPacked(scheme.format) && format.ends_with("-quantized") &&
                                     !isPacked(format) && !format.starts_with("int"));
}

struct Group {
  std::string name;
  std::vector<std::string> targets;
  Claim claim;
};

/// The targets of all groups in matching order (utils/match.py, match_targets): names before
/// expressions, each kind sorted alphabetically.
struct Target {
  std::string text;
  const Group* group;
};
std::vector<Target> targetsOf(std::span<const Group> groups) {
  std::vector<Target> targets;
  for (const Group& group : groups)
    for (const std::string& text : group.targets)
      targets.push_back({text, &group});
  std::ranges::sort(targets, {}, [](const Target& target) {
    return std::tuple(target.text.starts_with("re:"), std::string_view(target.text), target.group);
  });
  return targets;
}

/// Reports a group whose weights readers would expect in another packing: its own `format`, else
/// the configuration's, does not fit.
void checkFormat(const Json& block, const Group& group, Findings& findings) {
  const std::string own =
      stringAt(memberAt(block, {"config_groups", group.name.c_str()}), "format");
  const std::string common = stringAt(block, "format");
  const std::string& format = own.empty() ? common : own;
  const bool isWhole = stringAt(block, "quantization_status") == "compressed";
  const Scheme& scheme = schemeOf(group.claim.format);
  if (format.empty() || format == "mixed-precision" || (format == "dense" && !isWhole) ||
      isFormatOf(format, scheme))
    return;
  findings.push_back(finding("configuration-mismatch", "config.json", "",
                             fmt::format("{} is {}, which is stored as {}; {} is {}",
                                         group.claim.source, scheme.row, scheme.format,
                                         own.empty() ? "format" : "its format", inQuotes(format))));
}

constexpr auto kArgumentKeys = std::to_array<std::string_view>(
    {"num_bits", "type", "symmetric", "group_size", "strategy", "block_structure", "dynamic",
     "actorder", "scale_dtype", "zp_dtype", "observer", "observer_kwargs"});
constexpr auto kSchemeKeys = std::to_array<std::string_view>(
    {"targets", "weights", "input_activations", "output_activations", "format"});

void checkKeys(const Json& object, std::span<const std::string_view> known,
               const std::string& where, Findings& findings) {
  if (object.is_object())
    for (const auto& [key, value] : object.items())
      if (std::ranges::find(known, key) == known.end())
        findings.push_back(finding("bad-configuration", "config.json", "",
                                   fmt::format("{} has the key {}, which compressed-tensors "
                                               "refuses",
                                               where, inQuotes(key))));
}

/// A group given as a preset's name with a list of targets.
std::optional<Claim> readPreset(std::string_view name) {
  for (const Scheme& scheme : kSchemes) {
    const bool full = scheme.preset == name, weightOnly = scheme.weightOnlyPreset == name;
    if (name.empty() || (!full && !weightOnly))
      continue;
    Claim claim;
    claim.format = scheme.row;
    if (full) {
      const bool isStatic = scheme.row == "fp8_tensor" || scheme.row == "nvfp4";
      claim.activations = activationsFor(scheme.row, isStatic ? Activations::Kind::Static
                                                              : Activations::Kind::Dynamic);
    }
    return claim;
  }
  return std::nullopt;
}

std::vector<Group> readGroups(const Json& block, Findings& findings) {
  std::vector<Group> groups;
  const Json& list = memberAt(block, {"config_groups"});
  if (!list.is_object())
    return groups;
  for (const auto& [name, value] : list.items()) {
    const std::string where = "config.json: config_groups." + name;
    Group group;
    group.name = name;
    if (value.is_array()) {
      for (const Json& target : value)
        if (target.is_string())
          group.targets.push_back(target.get<std::string>());
      if (const auto preset = readPreset(name))
        group.claim = *preset;
      else
        group.claim.kind = Claim::Kind::Unsupported;
    } else {
      checkKeys(value, kSchemeKeys, where, findings);
      const Json& weights = memberAt(value, {"weights"});
      if (!weights.is_object())
        continue; // activations only, for example for attention
      checkKeys(weights, kArgumentKeys, where + ".weights", findings);
      const Json& input = memberAt(value, {"input_activations"});
      checkKeys(input, kArgumentKeys, where + ".input_activations", findings);
      group.targets = stringsAt(value, "targets");
      std::string format = stringAt(value, "format");
      if (format.empty())
        format = stringAt(block, "format");
      const Reading reading = readArguments(weights, format);
      group.claim.format = reading.row;
      group.claim.block = reading.block;
      group.claim.activations = readActivations(input, format);
      if (reading.row.empty())
        group.claim.kind = Claim::Kind::Unsupported;
    }
    if (group.claim.kind == Claim::Kind::Unsupported)
      findings.push_back(
          finding("unsupported-format", "config.json", "",
                  fmt::format("{} is {}", where,
                              value.is_array()
                                  ? "not a preset that octavo knows"
                                  : memberAt(value, {"weights"})
                                        .dump(-1, ' ', false, Json::error_handler_t::replace))));
    else
      group.claim.kind = Claim::Kind::Quantized;
    group.claim.source = where;
    groups.push_back(std::move(group));
  }
  return groups;
}

Json writeArguments(const Arguments& arguments, Json dynamic,
                    std::optional<std::array<std::int64_t, 2>> block = {}) {
  Json object = {{"num_bits", arguments.bits},
                 {"type", "float"},
                 {"symmetric", true},
                 {"group_size", arguments.group ? Json(arguments.group) : Json(nullptr)},
                 {"strategy", arguments.strategy}};
  if (block)
    object["block_structure"] = *block;
  object["dynamic"] = std::move(dynamic);
  if (!arguments.scaleDtype.empty()) {
    object["scale_dtype"] = arguments.scaleDtype;
    object["zp_dtype"] = arguments.scaleDtype;
  }
  return object;
}

/// The `input_activations` object; null if activations are not quantized.
Json writeActivations(const Scheme& scheme, Activations::Kind kind) {
  if (kind == Activations::Kind::None)
    return nullptr;
  if (scheme.row == "nvfp4")
    // NVFP4 activations have dynamic blocks under a stored outer scale; without it they stay wide.
    return kind == Activations::Kind::Static ? writeArguments(scheme.dynamicInput, "local")
                                             : Json(nullptr);
  const bool canBeStatic = !schemeOf(scheme.row).dynamicInput.group;
  if (kind == Activations::Kind::Static && canBeStatic)
    return writeArguments({8, "tensor"}, false);
  return writeArguments(scheme.dynamicInput, true);
}

/// The transforms applied at run time. Transforms at weight locations are already merged into the
/// stored weights.
std::vector<std::string> transformsOf(const Json& block) {
  std::vector<std::string> found;
  const Json& groups = memberAt(block, {"transform_config", "config_groups"});
  if (groups.is_object())
    for (const auto& [name, group] : groups.items())
      if (const Json& places = memberAt(group, {"apply"}); places.is_array())
        for (const Json& place : places)
          if (const std::string at = stringAt(place, "location");
              !at.empty() && !at.starts_with("weight_"))
            found.push_back(fmt::format("{} transforms each {}", name, at));
  return found;
}

/// Reports sparse weights, `X.compressed` and `X.bitmask` (sparse-bitmask, sparse-24-bitmask),
/// which compressed-tensors wrote before 0.12.
void reportSparse(const Folder& folder, Inventory& inventory, Findings& findings) {
  constexpr std::string_view kMask = ".bitmask";
  const std::string format =
      stringAt(memberAt(readableQuantization(folder), {"sparsity_config"}), "format");
  std::set<std::string, std::less<>> modules;
  for (const StoredTensor& mask : folder.tensors()) {
    if (!mask.name().ends_with(kMask))
      continue;
    std::string module = mask.name().substr(0, mask.name().size() - kMask.size());
    const StoredTensor* values = folder.find(module + ".compressed");
    if (!values)
      continue;
    std::string what = fmt::format("its zeros are left out ({})",
                                   format.empty() ? "as a bitmask says" : std::string_view(format));
    findings.push_back(finding("unsupported-format", values->shard->name(), values->name(), what));
    inventory.unread.push_back({values->name(), std::move(what)});
    modules.insert(std::move(module));
  }
  // Their scales belong to these weights, although these are not read.
  const auto isOfOne = [&](std::string_view tensor) {
    return modules.contains(tensor.substr(0, tensor.rfind('.')));
  };
  const auto isScaleOfOne = [&](std::string_view tensor) {
    return !tensor.ends_with(".compressed") && isOfOne(tensor);
  };
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.rule == "orphan-scale" && isScaleOfOne(finding.tensor);
  });
  std::erase_if(inventory.foreign,
                [&](const ForeignCodes& codes) { return isOfOne(codes.tensor.name()); });
  // Report each only once, as a sparse weight.
  std::erase_if(inventory.unread, [&](const Unread& each) {
    return each.name.ends_with(".compressed") && isOfOne(each.name) &&
           !each.why.starts_with("its zeros");
  });
  std::erase_if(inventory.unread, [&](const Unread& each) { return isScaleOfOne(each.name); });
}

class CompressedTensors : public Layout {
public:
  std::string_view name() const override { return "compressed-tensors"; }
  std::string_view description() const override {
    return "llm-compressor's checkpoints: groups of targets, each with its own format.";
  }
  std::string_view source() const override {
    return "compressed-tensors 0.20 quantization/quant_scheme.py, config/base.py";
  }
  std::span<const LayerSpelling> spellings() const override { return kCompressedTensorsSpellings; }
  KvSpelling kvSpelling() const override { return {.dtype = "", .shape = ScaleShape::One}; }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"compressed-tensors"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    const Json& block = folder.quantizationConfig();
    if (stringAt(block, "quant_method") == "compressed-tensors")
      return "config.json: quant_method is compressed-tensors";
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const Json& block = readableQuantization(folder);
    const auto steps = std::make_shared<PatternSteps>();
    const NamePatterns ignored(stringsAt(block, "ignore"), PatternStyle::NameClassOrRegex, "ignore",
                               findings, steps);
    const std::vector<Group> groups = readGroups(block, findings);
    const std::vector<Target> targets = targetsOf(groups);
    std::vector<std::string> texts;
    std::ranges::transform(targets, std::back_inserter(texts), &Target::text);
    const auto keyOf = [&](std::size_t entry) {
      return targets[entry].group->claim.source + ".targets";
    };
    const NamePatterns targeted(texts, PatternStyle::NameClassOrRegex, keyOf, findings, steps);
    const auto claimOf = [&](std::string_view module) {
      Claim claim;
      if (ignored.match(module)) {
        claim.kind = Claim::Kind::Plain;
        claim.source = "config.json: ignore";
        return claim;
      }
      if (const auto entry = targeted.match(module)) {
        const Target& target = targets[*entry];
        claim = target.group->claim;
        claim.reach = target.text == module ? Claim::Reach::Name : Claim::Reach::Class;
        return claim;
      }
      for (const Group& group : groups)
        if (std::ranges::find(group.targets, "Linear") != group.targets.end())
          return group.claim;
      return claim;
    };
    Inventory inventory = scanLayers(folder, kCompressedTensorsSpellings, claimOf, findings);
    std::set<std::string> used;
    for (const Layer& layer : inventory.layers)
      used.insert(claimOf(layer.name).source);
    for (const Group& group : groups)
      if (used.contains(group.claim.source) && group.claim.kind == Claim::Kind::Quantized)
        checkFormat(block, group, findings);
    reportUnused(folder, ignored, "ignore", findings);
    reportUnused(folder, targeted, keyOf, findings);
    reportTransforms(transformsOf(block), "transform_config", inventory, findings);
    reportSparse(folder, inventory, findings);
    const Json& kv = memberAt(block, {"kv_cache_scheme"});
    if (kv.is_object() && stringAt(kv, "type") == "float")
      inventory.kvCacheFormat = integerAt(kv, "num_bits") == 4 ? "fp4" : "fp8";
    // Other tools, octavo included, write this configuration too; only compressed-tensors adds its
    // version.
    if (const std::string version = stringAt(block, "version"); !version.empty())
      inventory.quantizer = "compressed-tensors " + version;
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer> layers) const override {
    settleEach(layers, [](const format::ScaledFormat& weights, Activations wanted) {
      const Scheme& scheme = schemeOf(weights.name);
      return readActivations(writeActivations(scheme, wanted.kind), scheme.format);
    });
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    const std::vector<ChosenGroup> chosen = groupByFormat(choice);
    Json groups = Json::object();
    std::string_view format = "dense";
    for (const ChosenGroup& group : chosen) {
      const Scheme& scheme = schemeOf(group.format->name);
      format = chosen.size() == 1 ? scheme.format : "mixed-precision";
      std::optional<std::array<std::int64_t, 2>> block;
      if (scheme.weights.strategy == "block")
        block = {group.format->across, group.format->along};
      groups[fmt::format("group_{}", groups.size())] = {
          {"targets", chosen.size() == 1 ? Json::array({"Linear"}) : Json(group.modules)},
          {"weights", writeArguments(scheme.weights, false, block)},
          {"input_activations", writeActivations(scheme, group.activations.kind)},
          {"output_activations", nullptr},
          {"format", scheme.format}};
    }
    Json block = {{"quant_method", "compressed-tensors"},
                  {"format", format},
                  {"quantization_status", "compressed"},
                  {"global_compression_ratio", nullptr},
                  {"config_groups", std::move(groups)},
                  {"ignore", choice.ignored},
                  {"kv_cache_scheme", nullptr}};
    if (choice.kvScales)
      block["kv_cache_scheme"] =
          writeArguments({8, choice.kvScalesPerHead ? "attn_head" : "tensor"}, false);
    setQuantization(config, std::move(block));
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& compressedTensorsLayout() {
  static const CompressedTensors layout;
  return layout;
}

} // namespace octavo::checkpoint
