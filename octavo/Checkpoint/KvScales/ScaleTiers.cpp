#include "octavo/Checkpoint/KvScales/ScaleTiers.h"

#include "octavo/Base/NaturalOrder.h"
#include "octavo/Base/NearNames.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"
#include "octavo/Checkpoint/ModuleNames/KvNames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace octavo::checkpoint {

namespace {

/// The scale of a canonical name.
struct Slot {
  std::vector<float> values;
  std::string source;
  std::string rival = {}; ///< a tensor with another value of this scale
};
using Slots = std::map<std::string, Slot, std::less<>>;

/// Attention modules by tensor names, then modules that only have scales.
std::vector<std::string> modulesOf(const Folder& folder, const Inventory& inventory) {
  std::vector<std::string> modules = attentionModules(folder);
  const std::set<std::string> known(modules.begin(), modules.end());
  for (const KvScales& kv : inventory.kvScales)
    if (!known.contains(kv.module))
      modules.push_back(kv.module);
  std::ranges::sort(modules, base::precedesNaturally);
  return modules;
}

Slots slotsOf(std::span<const StoredScale> file) {
  Slots slots;
  for (const StoredScale& scale : file)
    for (const std::string& name : canonicalScaleNames(scale.name))
      slots[name] = {scale.values(), scale.name};
  return slots;
}

tl::expected<Slots, Error> slotsOf(const Inventory& inventory) {
  Slots slots;
  std::optional<Error> unread;
  const auto add = [&](const std::string& name, const std::optional<Part>& part) {
    if (!part || unread)
      return;
    if (auto scales = readScales(*part))
      slots[name] = {std::move(*scales), part->tensor.name()};
    else
      unread = std::move(scales.error());
  };
  for (const KvScales& kv : inventory.kvScales) {
    add(kv.module + ".k_scale", kv.key);
    add(kv.module + ".v_scale", kv.value);
    add(kv.module + ".q_scale", kv.query);
    add(kv.module + ".prob_output_scale", kv.probability);
    for (const Part& rival : kv.rivals)
      slots[canonicalScaleNames(rival.tensor.name()).front()].rival = rival.tensor.name();
  }
  if (unread)
    return tl::unexpected(std::move(*unread));
  return slots;
}

bool isStatic(const Layer& layer) {
  return layer.inputScale || layer.activations.kind == Activations::Kind::Static;
}

std::string inputScaleName(const Layer& layer) {
  return layer.inputScale ? layer.inputScale->tensor.name() : layer.name + ".input_scale";
}

/// The scales of the JSON form under the names of the model's attention modules.
tl::expected<std::vector<StoredScale>, Error> scalesFromJson(const Folder& folder,
                                                             const Inventory& inventory,
                                                             const std::filesystem::path& path) {
  const Json& config = folder.config();
  std::string modelType;
  if (config.is_object())
    if (const auto found = config.find("model_type"); found != config.end() && found->is_string())
      modelType = found->get<std::string>();
  const auto json = readKvScaleJson(path, modelType);
  if (!json)
    return tl::unexpected(json.error());
  const std::vector<std::string> modules = modulesOf(folder, inventory);
  if (modules.size() != json->layers.size())
    return tl::unexpected(Error{.file = path.string(),
                                .problem = "belongs to a model with a different number of layers",
                                .expected = fmt::format("{}", modules.size()),
                                .found = fmt::format("{}", json->layers.size()),
                                .fix = "use this model's file"});
  std::vector<StoredScale> scales;
  for (std::size_t i = 0; i < modules.size(); ++i)
    for (const char* name : {".k_scale", ".v_scale"})
      scales.push_back(scalarScale(modules[i] + name, json->layers[i]));
  return scales;
}

/// Names that a scale of this model may have; an error suggests those nearest.
std::vector<std::string> knownNames(const Folder& folder, const Inventory& inventory) {
  std::vector<std::string> known;
  for (const std::string& module : modulesOf(folder, inventory))
    for (const char* name : {".k_scale", ".v_scale"})
      known.push_back(module + name);
  for (const StoredTensor& tensor : folder.tensors())
    if (tensor.name().find("scale") != std::string::npos)
      known.push_back(tensor.name());
  return known;
}

/// Each scale once, under whatever name. A name for keys or values alone takes precedence over the
/// old name for both, as in a checkpoint (KvNames.h) and in vLLM. Error: two values for one scale.
tl::expected<std::vector<StoredScale>, Error> eachOnce(const std::filesystem::path& path,
                                                       const std::vector<StoredScale>& scales) {
  std::map<std::string, const StoredScale*, std::less<>> known; // by canonical name
  std::vector<StoredScale> each;
  for (const StoredScale& scale : scales) {
    const std::vector<std::string> names = canonicalScaleNames(scale.name);
    if (names.size() > 1)
      continue;
    const auto [first, isNew] = known.emplace(names.front(), &scale);
    if (isNew)
      each.push_back(scale);
    else if (first->second->values() != scale.values())
      return tl::unexpected(
          Error{.file = path.string(),
                .problem = "the file has two values for the same scale",
                .tensor = scale.name,
                .expected = fmt::format("{}, as {} says", fmt::join(first->second->values(), ", "),
                                        inQuotes(first->second->name)),
                .found = fmt::format("{}", fmt::join(scale.values(), ", ")),
                .fix = "keep the right one"});
  }
  for (const StoredScale& pair : scales) {
    std::vector<std::string> names = canonicalScaleNames(pair.name);
    if (names.size() == 1)
      continue;
    const std::size_t outweighed =
        std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
    if (outweighed == 0)
      each.push_back(pair);
    else if (!names.empty())
      each.push_back({names.front(), pair.dtype, pair.shape, pair.bytes});
  }
  return each;
}

} // namespace

std::string_view scaleTierName(ScaleTier tier) {
  switch (tier) {
  case ScaleTier::Default:
    return "default";
  case ScaleTier::Checkpoint:
    return "checkpoint";
  case ScaleTier::File:
    return "file";
  }
  return "";
}

std::vector<std::string> canonicalScaleNames(std::string_view tensor) {
  const auto match = matchKvName(tensor);
  if (!match)
    return {std::string(tensor)};
  const std::string module(match->module);
  switch (match->role) {
  case KvRole::Key:
    return {module + ".k_scale"};
  case KvRole::Value:
    return {module + ".v_scale"};
  case KvRole::KeyAndValue:
    return {module + ".k_scale", module + ".v_scale"};
  case KvRole::Query:
    return {module + ".q_scale"};
  case KvRole::Probability:
    return {module + ".prob_output_scale"};
  }
  return {};
}

tl::expected<std::vector<TieredScale>, Error>
resolveScales(const Folder& folder, const Inventory& inventory, std::span<const StoredScale> file) {
  const Slots inFile = slotsOf(file);
  const auto slots = slotsOf(inventory);
  if (!slots)
    return tl::unexpected(slots.error());
  const Slots& inCheckpoint = *slots;
  std::vector<TieredScale> scales;
  const auto resolve = [&](const std::string& name, const Slot* stored) {
    const auto overload = inFile.find(name);
    if (overload != inFile.end())
      scales.push_back({name, overload->second.values, ScaleTier::File, overload->second.source});
    else if (stored)
      scales.push_back(
          {name, stored->values, ScaleTier::Checkpoint, stored->source, stored->rival});
    else
      scales.push_back({name, {1.0f}, ScaleTier::Default, ""});
  };
  const auto inOwn = [&](const std::string& name) {
    const auto found = inCheckpoint.find(name);
    return found == inCheckpoint.end() ? nullptr : &found->second;
  };
  for (const std::string& module : modulesOf(folder, inventory)) {
    for (const char* name : {".k_scale", ".v_scale"})
      resolve(module + name, inOwn(module + name));
    for (const char* name : {".q_scale", ".prob_output_scale"})
      if (inOwn(module + name) || inFile.contains(module + name))
        resolve(module + name, inOwn(module + name));
  }
  std::vector<const Layer*> layers;
  for (const Layer& layer : inventory.layers)
    if (isStatic(layer))
      layers.push_back(&layer);
  std::ranges::sort(layers, base::precedesNaturally, &Layer::name);
  for (const Layer* layer : layers) {
    if (!layer->inputScale) {
      resolve(inputScaleName(*layer), nullptr);
      continue;
    }
    auto values = readScales(*layer->inputScale);
    if (!values)
      return tl::unexpected(std::move(values.error()));
    const Slot stored = {std::move(*values), inputScaleName(*layer)};
    resolve(inputScaleName(*layer), &stored);
  }
  return scales;
}

tl::expected<std::vector<StoredScale>, Error>
readScalesFor(const Folder& folder, const Inventory& inventory, const std::filesystem::path& path) {
  if (path.extension() == ".json")
    return scalesFromJson(folder, inventory, path);
  auto scales = readScaleFile(path);
  if (!scales)
    return scales;
  const std::vector<std::string> modules = modulesOf(folder, inventory);
  const std::set<std::string> attention(modules.begin(), modules.end());
  std::set<std::string, std::less<>> others; // all modules that have a tensor
  for (const StoredTensor& tensor : folder.tensors())
    others.insert(tensor.name().substr(0, tensor.name().rfind('.')));
  for (const StoredScale& scale : *scales) {
    const auto match = matchKvName(scale.name);
    const std::string module = scale.name.substr(0, scale.name.rfind('.'));
    const bool isKnown = match
                             ? attention.contains(std::string(match->module))
                             : scale.name.find('.') != std::string::npos && others.contains(module);
    if (isKnown && match)
      if (auto usable = checkScale(path, scale.name, scale.values()); !usable) // U8 has none
        return tl::unexpected(std::move(usable.error()));
    if (isKnown)
      continue;
    const auto near = base::nearNames(scale.name, knownNames(folder, inventory));
    return tl::unexpected(
        Error{.file = path.string(),
              .problem = match ? "the model has no attention module of that name"
                               : "the model has no module of that name",
              .tensor = scale.name,
              .fix = near.empty() ? "give the scales their names in the model"
                                  : fmt::format("did you mean {}?", fmt::join(near, ", "))});
  }
  return eachOnce(path, *scales);
}

} // namespace octavo::checkpoint
