#include "octavo/Checkpoint/Layouts/Configuration.h"

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/ValueRows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace octavo::checkpoint {

static const Json kNone;

const Json& memberAt(const Json& value, std::initializer_list<const char*> path) {
  const Json* at = &value;
  for (const char* key : path) {
    if (!at->is_object())
      return kNone;
    const auto found = at->find(key);
    if (found == at->end())
      return kNone;
    at = &*found;
  }
  return *at;
}

std::string stringAt(const Json& value, const char* key) {
  const Json& member = memberAt(value, {key});
  return member.is_string() ? member.get<std::string>() : std::string();
}

std::optional<std::int64_t> integerAt(const Json& value, const char* key) {
  const Json& member = memberAt(value, {key});
  if (!member.is_number_integer() ||
      (member.is_number_unsigned() && member.get<std::uint64_t>() > INT64_MAX))
    return std::nullopt;
  return member.get<std::int64_t>();
}

std::vector<std::string> stringsAt(const Json& value, const char* key) {
  const Json& member = memberAt(value, {key});
  std::vector<std::string> strings;
  if (member.is_array())
    for (const Json& entry : member)
      if (entry.is_string())
        strings.push_back(entry.get<std::string>());
  return strings;
}

const Json& readableQuantization(const Folder& folder) {
  static const Json none;
  const Json& block = folder.quantizationConfig();
  const bool isRead = memberAt(block, {"quant_method"}).is_null() ||
                      std::ranges::any_of(layouts(), [&](const Layout* layout) {
                        return layout->detectByConfiguration(folder).has_value();
                      });
  return isRead ? block : none;
}

void reportUnused(const Folder& folder, const NamePatterns& patterns,
                  const NamePatterns::KeyOf& keyOf, Findings& findings) {
  for (const std::size_t entry : patterns.unfinished())
    findings.push_back(finding("bad-pattern", "config.json", "",
                               fmt::format("{} has {}, which takes too many steps to match, or is "
                                           "held against a name that is too long",
                                           keyOf(entry), inQuotes(patterns[entry]))));
  const Json& tied = memberAt(folder.config(), {"tie_word_embeddings"});
  for (const std::size_t entry : patterns.unused()) {
    // A head that is tied to the embedding has no tensor of its own, and every producer lists it.
    if (patterns[entry].ends_with("lm_head") && (!tied.is_boolean() || tied.get<bool>()))
      continue;
    findings.push_back(finding("ignore-matches-nothing", "config.json", "",
                               fmt::format("{} has {}", keyOf(entry), inQuotes(patterns[entry]))));
  }
}

void reportUnused(const Folder& folder, const NamePatterns& patterns, std::string_view key,
                  Findings& findings) {
  reportUnused(folder, patterns, [&](std::size_t) { return std::string(key); }, findings);
}

void reportTransforms(std::span<const std::string> transforms, std::string_view key,
                      Inventory& inventory, Findings& findings) {
  if (transforms.empty())
    return;
  std::string what = fmt::format("{}: {}", key, fmt::join(transforms, ", "));
  inventory.unread.push_back({"config.json", what});
  findings.push_back(finding("runtime-transform", "config.json", "", std::move(what)));
}

bool saysQuantized(const Folder& folder) {
  return folder.quantizationConfig().is_object() ||
         memberAt(folder.quantConfig(), {"quantization"}).is_object();
}

void removeQuantization(Json& config) {
  if (!config.is_object())
    return;
  config.erase("quantization_config");
  config.erase("compression_config");
  if (const auto text = config.find("text_config"); text != config.end() && text->is_object())
    text->erase("quantization_config");
}

void setQuantization(Json& config, Json block) {
  if (!config.is_object())
    config = Json::object();
  removeQuantization(config);
  config["quantization_config"] = std::move(block);
}

/// Models say the dtype of their weights under one of these keys.
static constexpr std::array kDtypeKeys = {"torch_dtype", "dtype"};

const SafetensorsDtype& modelDtype(const Json& config) {
  for (const char* key : kDtypeKeys)
    for (const kernels::WideType type : {kernels::WideType::F16, kernels::WideType::F32})
      if (stringAt(config, key) == plainDtype(type).type->format().torch)
        return plainDtype(type);
  return plainDtype(kernels::WideType::Bf16);
}

void setModelDtype(Json& config, const SafetensorsDtype& dtype) {
  for (const char* key : kDtypeKeys)
    if (config.is_object() && config.contains(key))
      config[key] = std::string_view(dtype.type->format().torch);
}

Json objectOf(std::vector<std::pair<std::string, Json>> members) {
  Json::object_t object;
  object.reserve(members.size());
  for (auto& [key, value] : members)
    object.emplace_back(std::move(key), std::move(value));
  return object;
}

std::vector<ChosenGroup> groupByFormat(const LayoutChoice& choice) {
  std::vector<ChosenGroup> groups;
  for (const ChosenLayer& layer : choice.layers) {
    auto group = std::ranges::find_if(groups, [&](const ChosenGroup& each) {
      return each.format == layer.format && each.activations == layer.activations;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), {layer.format, layer.activations, {}});
    group->modules.push_back(layer.module);
  }
  return groups;
}

void settleEach(std::span<ChosenLayer> layers, SaysActivations says) {
  for (ChosenLayer& layer : layers) {
    const Activations wanted = layer.activations;
    const Activations choices[] = {wanted, {Activations::Kind::Dynamic, wanted.format}};
    const auto sayable = std::ranges::find_if(choices, [&](const Activations& choice) {
      return areAlike(says(*layer.format, choice), choice);
    });
    layer.activations =
        says(*layer.format, sayable == std::end(choices) ? Activations{} : *sayable);
  }
}

} // namespace octavo::checkpoint
