#include "octavo/Checkpoint/KvScales/ScaleFile.h"

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/Safetensors.h"
#include "octavo/Checkpoint/Files/ShardWriter.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

namespace octavo::checkpoint {

namespace {

constexpr const char* kJsonDtype = "float8_e4m3fn";

bool isScaleName(std::string_view name) { return lastComponent(name).find("scale") != name.npos; }

bool isUsable(float scale) { return std::isfinite(scale) && scale > 0; }

tl::unexpected<Error> refuse(const std::filesystem::path& path, std::string problem,
                             std::string expected, std::string found, std::string fix,
                             std::string tensor = {}) {
  return tl::unexpected(Error{.file = path.string(),
                              .problem = std::move(problem),
                              .tensor = std::move(tensor),
                              .expected = std::move(expected),
                              .found = std::move(found),
                              .fix = std::move(fix)});
}

/// The members of an object by their keys as integers. nullopt if a key is not an integer in
/// canonical form ("00" beside "0" would be a second member of the same number).
std::optional<std::map<std::int64_t, const Json*>> byNumber(const Json& object) {
  std::map<std::int64_t, const Json*> members;
  if (!object.is_object())
    return std::nullopt;
  for (const auto& [key, value] : object.items()) {
    std::int64_t number = -1;
    const auto [_, code] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (code != std::errc() || number < 0 || key != std::to_string(number))
      return std::nullopt;
    members.emplace(number, &value);
  }
  return members;
}

/// Whether the keys are 0, 1, 2, ...
bool isCounted(const std::map<std::int64_t, const Json*>& members) {
  return !members.empty() && members.rbegin()->first == std::ssize(members) - 1;
}

} // namespace

std::vector<float> StoredScale::values() const {
  std::vector<float> values;
  if (!dtype->type || !dtype->type->isFloat() || dtype->bits < 8)
    return values;
  const format::ElementFormat& format = dtype->type->format();
  for (std::size_t i = 0; i < bytes.size(); i += format.bytes())
    values.push_back(
        static_cast<float>(numerics::decode(format, codeAt(format, bytes.data() + i))));
  return values;
}

StoredScale scalarScale(std::string name, float value) {
  StoredScale scale = {std::move(name), findSafetensorsDtype("F32"), {}, {}};
  scale.bytes.resize(sizeof value);
  std::memcpy(scale.bytes.data(), &value, sizeof value);
  return scale;
}

tl::expected<void, Error> checkScale(const std::filesystem::path& file, const std::string& tensor,
                                     std::span<const float> values) {
  const auto wrong = std::ranges::find_if_not(values, isUsable);
  if (wrong != values.end() || values.empty())
    return refuse(file, "the scale cannot be used", "a positive, finite number",
                  values.empty() ? "none" : fmt::format("{}", *wrong), "calibrate again", tensor);
  return {};
}

tl::expected<std::vector<StoredScale>, Error> readScaleFile(const std::filesystem::path& path) {
  const auto file = SafetensorsFile::open(path);
  if (!file)
    return tl::unexpected(file.error());
  std::vector<StoredScale> scales;
  for (const SafetensorsEntry& entry : file->entries()) {
    if (!isScaleName(entry.name))
      return refuse(path, "is not a scale file: it has a tensor that is not a scale",
                    "names with \"scale\" in their last component", "",
                    "keep only the scales, under their names in the model", entry.name);
    auto bytes = file->bytes(entry);
    if (!bytes)
      return tl::unexpected(std::move(bytes.error()));
    StoredScale scale = {entry.name, entry.dtype, entry.shape, std::move(*bytes)};
    const bool isFloat =
        entry.dtype->type && entry.dtype->type->isFloat() && entry.dtype->bits >= 8;
    if (!isFloat && entry.dtype->name != "U8")
      return refuse(path, "the scale has a dtype that no scale has", "F32, BF16, F16, F8 or U8",
                    std::string(entry.dtype->name), "write it as F32", entry.name);
    if (isFloat)
      if (auto usable = checkScale(path, entry.name, scale.values()); !usable)
        return tl::unexpected(std::move(usable.error()));
    scales.push_back(std::move(scale));
  }
  return scales;
}

tl::expected<void, Error> writeScaleFile(const std::filesystem::path& path,
                                         std::span<const StoredScale> scales) {
  std::vector<PlannedTensor> plan;
  for (const StoredScale& scale : scales)
    plan.push_back({scale.name, scale.dtype, scale.shape});
  auto writer = ShardWriter::create(path, plan);
  if (!writer)
    return tl::unexpected(std::move(writer.error()));
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (auto written = writer->write(i, 0, scales[i].bytes); !written)
      return written;
  return writer->commit();
}

tl::expected<KvScaleJson, Error> readKvScaleJson(const std::filesystem::path& path,
                                                 const std::string& modelType) {
  const auto json = readJson(path);
  if (!json)
    return tl::unexpected(json.error());
  KvScaleJson result;
  const Json& type = memberAt(*json, {"model_type"});
  if (type.is_string())
    result.modelType = type.get<std::string>();
  if (!modelType.empty() && !result.modelType.empty() && modelType != result.modelType)
    return refuse(path, "belongs to another model", "model_type " + inQuotes(modelType),
                  inQuotes(result.modelType), "use this model's file");
  const Json& cache = memberAt(*json, {"kv_cache"});
  if (!cache.is_object())
    return refuse(
        path, "has no kv_cache", "an object", cache.type_name(),
        "use a file that `octavo checkpoint scales extract` or vLLM's extract_scales wrote");
  if (memberAt(cache, {"dtype"}) != kJsonDtype)
    return refuse(path, "kv_cache has another dtype", kJsonDtype, memberAt(cache, {"dtype"}).dump(),
                  "calibrate for an e4m3fn cache");
  const auto ranks = byNumber(memberAt(cache, {"scaling_factor"}));
  if (!ranks || !isCounted(*ranks))
    return refuse(path, "scaling_factor does not list ranks", "keys 0, 1, 2, ...",
                  memberAt(cache, {"scaling_factor"}).is_object() ? "other keys" : "no object",
                  "write the file again");
  for (const auto& [rank, factors] : *ranks) {
    const auto layers = byNumber(*factors);
    if (!layers || !isCounted(*layers))
      return refuse(path, fmt::format("rank {} does not list every layer", rank),
                    "keys 0, 1, 2, ... without a gap",
                    layers ? fmt::format("{} layers, the last {}", layers->size(),
                                         layers->empty() ? -1 : layers->rbegin()->first)
                           : "other keys",
                    "calibrate the missing layers");
    std::vector<float> scales;
    for (const auto& [layer, factor] : *layers) {
      const float scale = factor->is_number() ? factor->get<float>() : 0;
      if (!isUsable(scale))
        return refuse(path,
                      fmt::format("the scale of rank {}, layer {} cannot be used", rank, layer),
                      "a positive, finite number", factor->dump(), "calibrate again");
      scales.push_back(scale);
    }
    if (rank > 0 && scales != result.layers)
      return refuse(path, fmt::format("rank {} and rank 0 have different scales", rank),
                    "one scale per layer, as in a checkpoint", "several",
                    "calibrate with one rank, or keep the larger of the two for each layer");
    result.layers = std::move(scales);
  }
  return result;
}

tl::expected<void, Error> writeKvScaleJson(const std::filesystem::path& path,
                                           const KvScaleJson& scales, int ranks) {
  Json factors = Json::object();
  for (std::size_t i = 0; i < scales.layers.size(); ++i)
    factors[std::to_string(i)] = scales.layers[i];
  Json byRank = Json::object();
  for (int rank = 0; rank < ranks; ++rank)
    byRank[std::to_string(rank)] = factors;
  const Json json = {{"model_type", scales.modelType},
                     {"kv_cache", {{"dtype", kJsonDtype}, {"scaling_factor", byRank}}}};
  auto file = OutputFile::create(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  if (auto written = file->write(std::string_view(json.dump(2) + "\n")); !written)
    return written;
  return file->commit();
}

} // namespace octavo::checkpoint
