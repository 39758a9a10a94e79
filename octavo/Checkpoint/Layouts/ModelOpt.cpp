// NVIDIA ModelOpt's checkpoints: hf_quant_config.json, and since 0.29 the same content in
// config.json.
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace octavo::checkpoint {

namespace {

using Kind = Activations::Kind;

constexpr ElementSpelling kModelOptWeight = {"*", "F8_E4M3", ElementShape::Logical};
constexpr ElementSpelling kModelOptPacked = {"*", "U8", ElementShape::PackedBytes};
constexpr ScaleSpelling kModelOptInput = {"input_scale", "F32", ScaleShape::Scalar};
// Stacked experts (Llama 4, gpt-oss) keep "weight" in the names of their scales and the axes of the
// model's bf16 tensors, [E, K, N]. Codes are still packed along K.
constexpr ScaleSpelling kStackedInput = {"*_input_scale", "F32", ScaleShape::Scalar};

// If the input scale is required and missing, vLLM uses the lowest f32 for it
// (quantization/modelopt.py, ModelOptFp8LinearMethod).
constexpr auto kModelOptSpellings = std::to_array<LayerSpelling>({
    {"fp8_tensor",
     kModelOptWeight,
     {"*_scale", "F32", ScaleShape::Scalar},
     {},
     kModelOptInput,
     Access::ReadAndWrite,
     StoredAxes::Same,
     InputScale::Required},
    {"fp8_row", kModelOptWeight, {"*_scale", "F32", ScaleShape::Rows}},
    {"fp8_block", kModelOptWeight, {"*_scale", "F32", ScaleShape::Grid4}},
    {"fp8_block", kModelOptWeight, {"*_scale", "F32", ScaleShape::Grid}, {}, {}, Access::ReadOnly},
    {"mxfp8_e4m3", kModelOptWeight, {"*_scale", "U8", ScaleShape::Grid}},
    {"nvfp4",
     kModelOptPacked,
     {"*_scale", "F8_E4M3", ScaleShape::Grid},
     {"*_scale_2", "F32", ScaleShape::Scalar},
     kModelOptInput},
    {"mxfp4", kModelOptPacked, {"*_scale", "U8", ScaleShape::Grid}, {}, {}, Access::ReadOnly},
    {"fp8_tensor",
     kModelOptWeight,
     {"*_weight_scale", "F32", ScaleShape::Scalar},
     {},
     kStackedInput,
     Access::ReadAndWrite,
     StoredAxes::Swapped,
     InputScale::Required,
     Holds::Stacks},
    {"nvfp4",
     kModelOptPacked,
     {"*_weight_scale", "F8_E4M3", ScaleShape::Grid},
     {"*_weight_scale_2", "F32", ScaleShape::Scalar},
     kStackedInput,
     Access::ReadAndWrite,
     StoredAxes::Swapped,
     InputScale::Optional,
     Holds::Stacks},
    {"nvfp4",
     kModelOptPacked,
     {"*_weight_scale", "F8_E4M3", ScaleShape::Grid},
     {"*_weight_scale_2", "F32", ScaleShape::Scalar},
     kStackedInput,
     Access::ReadOnly},
    {"fp8_block",
     kModelOptWeight,
     {"*_scale_inv", "F32", ScaleShape::Grid},
     {},
     {},
     Access::Tolerated},
});

// modelopt/torch/export/convert_hf_config.py. Algorithms that vLLM does not load (QUANT_ALGOS of
// its quantization/modelopt.py) are read but not written.
struct Algorithm {
  std::string_view name;
  std::string_view row;
  Kind activations;
  Access access = Access::ReadOnly;
};
constexpr auto kAlgorithms = std::to_array<Algorithm>({
    {"FP8", "fp8_tensor", Kind::Static, Access::ReadAndWrite},
    {"FP8_PER_CHANNEL_PER_TOKEN", "fp8_row", Kind::Dynamic, Access::ReadAndWrite},
    {"FP8_PB_WO", "fp8_block", Kind::None, Access::ReadAndWrite},
    {"FP8_PB_REAL", "fp8_block", Kind::Dynamic},
    {"FP8_PB", "fp8_block", Kind::Dynamic},
    {"FP8_BLOCK_SCALES", "fp8_block", Kind::Dynamic}, // TensorRT-LLM's name
    {"NVFP4", "nvfp4", Kind::Static, Access::ReadAndWrite},
    {"W4A16_NVFP4", "nvfp4", Kind::None, Access::ReadAndWrite},
    {"NVFP4_AWQ", "nvfp4", Kind::Static},
    {"W4A8_NVFP4_FP8", "nvfp4", Kind::Static},
    {"MXFP8", "mxfp8_e4m3", Kind::Dynamic, Access::ReadAndWrite},
    {"MXFP4", "mxfp4", Kind::Dynamic},
    {"W4A8_MXFP4_FP8", "mxfp4", Kind::Static},
});

/// Case is ignored: ModelOpt 0.47 writes "fp8_pb_wo".
std::string upperCase(std::string text) {
  for (char& c : text)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

const Algorithm* findAlgorithm(std::string_view name) {
  const std::string upper = upperCase(std::string(name));
  const auto found = std::ranges::find(kAlgorithms, upper, &Algorithm::name);
  return found == kAlgorithms.end() ? nullptr : &*found;
}

Activations activationsOf(const Algorithm& algorithm) {
  Activations activations = activationsFor(algorithm.row, algorithm.activations);
  if (algorithm.name.ends_with("_FP8"))
    activations.format = format::findScaledFormat("fp8_tensor");
  return activations;
}

/// The algorithm to write for a format, with that kind of activations if there is one. Within one
/// format, ModelOpt only distinguishes NVFP4 with and without quantized activations.
const Algorithm& chooseAlgorithm(const format::ScaledFormat& format, Kind kind) {
  if (format.hasOuterScale && kind == Kind::Dynamic)
    kind = Kind::None; // its activations need a stored outer scale
  const Algorithm* first = nullptr;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.row != format.name || algorithm.access != Access::ReadAndWrite)
      continue;
    if (algorithm.activations == kind)
      return algorithm;
    first = first ? first : &algorithm;
  }
  return *first;
}

/// The settings of either file, in one form.
struct Settings {
  std::string file, algorithm;
  std::optional<std::int64_t> group;
  std::vector<std::string> excluded;
  const Json* layers = nullptr; ///< quantized_layers of MIXED_PRECISION
  std::string kvCache;
  std::string producer;
};

std::string readProducer(const Json& object) {
  const Json& producer = memberAt(object, {"producer"});
  const std::string name = stringAt(producer, "name"), version = stringAt(producer, "version");
  return version.empty() ? name : name + " " + version;
}

std::optional<Settings> readHfQuantConfig(const Folder& folder) {
  const Json& block = memberAt(folder.quantConfig(), {"quantization"});
  if (!block.is_object())
    return std::nullopt;
  Settings settings{"hf_quant_config.json",
                    stringAt(block, "quant_algo"),
                    integerAt(block, "group_size"),
                    stringsAt(block, "exclude_modules"),
                    &memberAt(block, {"quantized_layers"}),
                    stringAt(block, "kv_cache_quant_algo"),
                    readProducer(folder.quantConfig())};
  return settings;
}

std::optional<Settings> readConfig(const Folder& folder) {
  const Json& block = folder.quantizationConfig();
  if (!stringAt(block, "quant_method").starts_with("modelopt"))
    return std::nullopt;
  // Some exports nest the form of hf_quant_config.json in config.json.
  const Json& nested = memberAt(block, {"quantization"});
  const Json& body = nested.is_object() ? nested : block;
  Settings settings{"config.json",
                    stringAt(body, "quant_algo"),
                    integerAt(body, "group_size"),
                    stringsAt(body, nested.is_object() ? "exclude_modules" : "ignore"),
                    &memberAt(body, {"quantized_layers"}),
                    stringAt(body, "kv_cache_quant_algo"),
                    readProducer(block)};
  const Json& scheme = memberAt(block, {"kv_cache_scheme"});
  if (scheme.is_string())
    settings.kvCache = scheme.get<std::string>();
  else if (scheme.is_object() && stringAt(scheme, "type") == "float")
    settings.kvCache = integerAt(scheme, "num_bits") == 4 ? "NVFP4" : "FP8";
  return settings;
}

Claim claimOf(std::string_view name, std::optional<std::int64_t> group, const std::string& source) {
  Claim claim;
  claim.source = source;
  const Algorithm* algorithm = findAlgorithm(name);
  if (!algorithm) {
    claim.kind = Claim::Kind::Unsupported;
    return claim;
  }
  claim.kind = Claim::Kind::Quantized;
  claim.format = algorithm->row;
  const format::ScaledFormat& row = *format::findScaledFormat(algorithm->row);
  claim.activations = activationsOf(*algorithm);
  if (group && *group > 0 && row.across == 1 && row.along != format::kWholeAxis &&
      *group != row.along)
    claim.block = {1, *group};
  return claim;
}

class ModelOpt : public Layout {
public:
  std::string_view name() const override { return "modelopt"; }
  std::string_view description() const override {
    return "NVIDIA ModelOpt's checkpoints, with hf_quant_config.json or the same in config.json.";
  }
  std::string_view source() const override {
    return "ModelOpt 0.47 export/convert_hf_config.py, export/quant_utils.py";
  }
  std::span<const LayerSpelling> spellings() const override { return kModelOptSpellings; }
  KvSpelling kvSpelling() const override {
    return {.key = "k_proj.k_scale", .value = "v_proj.v_scale"};
  }

  std::span<const std::string_view> quantMethods() const override {
    static constexpr auto kMethods = std::to_array<std::string_view>({"modelopt"});
    return kMethods;
  }
  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    if (readConfig(folder))
      return fmt::format("config.json: quant_method is {}",
                         stringAt(folder.quantizationConfig(), "quant_method"));
    if (const auto settings = readHfQuantConfig(folder))
      return fmt::format("hf_quant_config.json: quant_algo is {}", settings->algorithm);
    return std::nullopt;
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    const std::optional<Settings> fromHf = readHfQuantConfig(folder),
                                  fromConfig = readConfig(folder);
    if (fromHf && fromConfig && upperCase(fromHf->algorithm) != upperCase(fromConfig->algorithm))
      findings.push_back(
          finding("bad-configuration", "hf_quant_config.json", "",
                  fmt::format("quant_algo is {} here and {} in config.json",
                              inQuotes(fromHf->algorithm), inQuotes(fromConfig->algorithm))));
    // As in vLLM, config.json takes precedence if it has the block.
    const Settings settings = fromConfig ? *fromConfig : fromHf ? *fromHf : Settings{};
    const NamePatterns excluded(settings.excluded, PatternStyle::Wildcards, "exclude_modules",
                                findings);

    std::unordered_map<std::string, Claim> layers;
    const bool mixed = upperCase(settings.algorithm) == "MIXED_PRECISION";
    if (mixed && settings.layers && settings.layers->is_object())
      for (const auto& [layer, value] : settings.layers->items()) {
        Claim claim = claimOf(stringAt(value, "quant_algo"), integerAt(value, "group_size"),
                              settings.file + ": quantized_layers");
        claim.reach = Claim::Reach::Name;
        if (claim.kind == Claim::Kind::Unsupported)
          findings.push_back(
              finding("unsupported-format", settings.file, "",
                      fmt::format("quantized_layers says {} for {}",
                                  inQuotes(stringAt(value, "quant_algo")), inQuotes(layer))));
        layers.emplace(layer, std::move(claim));
      }
    Claim common;
    if (!settings.algorithm.empty() && !mixed) {
      common = claimOf(settings.algorithm, settings.group, settings.file + ": quant_algo");
      if (common.kind == Claim::Kind::Unsupported)
        findings.push_back(finding("unsupported-format", settings.file, "",
                                   fmt::format("quant_algo is {}", inQuotes(settings.algorithm))));
    }
    if (mixed) {
      common.kind = Claim::Kind::Plain;
      common.source = settings.file + ": quantized_layers";
    }

    Inventory inventory = scanLayers(
        folder, kModelOptSpellings,
        [&](std::string_view module) {
          if (excluded.match(module)) {
            Claim claim;
            claim.kind = Claim::Kind::Plain;
            claim.source = settings.file + ": exclude_modules";
            return claim;
          }
          // A fused or stacked module is listed by its parent's name.
          for (std::string_view name = module; mixed && !name.empty(); name = moduleOf(name))
            if (const auto found = layers.find(std::string(name)); found != layers.end())
              return found->second;
          return common;
        },
        findings);
    reportUnused(folder, excluded, "exclude_modules", findings);
    for (Layer& layer : inventory.layers)
      if (layer.storedAxes == StoredAxes::Swapped)
        layer.plainAxes = PlainAxes::Swapped;
    for (char& c : inventory.kvCacheFormat = settings.kvCache)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    inventory.quantizer = settings.producer;
    return inventory;
  }

  void settleActivations(std::span<ChosenLayer> layers) const override {
    settleEach(layers, [](const format::ScaledFormat& weights, Activations wanted) {
      return activationsOf(chooseAlgorithm(weights, wanted.kind));
    });
  }

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    const std::vector<ChosenGroup> chosen = groupByFormat(choice);
    const bool mixed = chosen.size() > 1;
    std::string_view algorithm = mixed ? "MIXED_PRECISION" : "";
    Json groups = Json::object();
    std::vector<std::pair<std::string, Json>> layers;
    std::optional<std::int64_t> groupSize;
    for (const ChosenGroup& group : chosen) {
      const format::ScaledFormat& row = *group.format;
      const Algorithm& own = chooseAlgorithm(row, group.activations.kind);
      const bool blocked = row.across == 1 && row.along != format::kWholeAxis;
      const Json layer = blocked ? Json{{"quant_algo", own.name}, {"group_size", row.along}}
                                 : Json{{"quant_algo", own.name}};
      if (mixed)
        for (const std::string& module : group.modules)
          layers.emplace_back(module, layer);
      else {
        algorithm = own.name;
        if (blocked)
          groupSize = row.along;
      }
      Json arguments = {{"dynamic", false}, {"num_bits", row.element->width()}, {"type", "float"}};
      if (blocked)
        arguments["group_size"] = row.along;
      Json entry;
      if (own.activations != Kind::None)
        entry["input_activations"] = arguments;
      if (own.row == "fp8_row")
        arguments["strategy"] = "channel";
      entry["weights"] = std::move(arguments);
      entry["targets"] = mixed ? Json(group.modules) : Json::array({"Linear"});
      groups[fmt::format("group_{}", groups.size())] = std::move(entry);
    }

    const Json producer = {{"name", "modelopt"}, {"version", "octavo"}};
    Json quantization = {{"quant_algo", algorithm},
                         {"kv_cache_quant_algo", choice.kvScales ? Json("FP8") : Json(nullptr)}};
    if (groupSize)
      quantization["group_size"] = *groupSize;
    if (mixed)
      quantization["quantized_layers"] = objectOf(layers);
    quantization["exclude_modules"] = choice.ignored;
    quantConfig = {{"producer", producer}, {"quantization", std::move(quantization)}};

    Json block = {{"config_groups", std::move(groups)}};
    if (mixed)
      block["quantized_layers"] = objectOf(std::move(layers));
    block["ignore"] = choice.ignored;
    block["quant_algo"] = algorithm;
    if (choice.kvScales)
      block["kv_cache_scheme"] = {{"dynamic", false}, {"num_bits", 8}, {"type", "float"}};
    block["producer"] = producer;
    block["quant_method"] = "modelopt";
    setQuantization(config, std::move(block));
  }
};

} // namespace

const Layout& modelOptLayout() {
  static const ModelOpt layout;
  return layout;
}

} // namespace octavo::checkpoint
