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
  const Json& tied = modelMember(folder.config(), "tie_word_embeddings");
  for (const std::size_t entry : patterns.unused()) {
    // A tied head has no tensor of its own, yet every producer lists it.
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
  // Layouts also recognize headers of files and other keys.
  if (std::ranges::any_of(layouts(), [&](const Layout* layout) {
        return layout->detectByConfiguration(folder).has_value();
      }))
    return true;
  return folder.quantizationConfig().is_object() ||
         memberAt(folder.quantConfig(), {"quantization"}).is_object();
}

/// Whether the value of MLX's key describes a quantization.
static bool isMlxBlock(const Json& value) {
  return value.is_object() && (value.contains("bits") || value.contains("group_size"));
}

/// Whether the value of DeepSeek-V4's key is a dtype of codes.
static bool isNarrowDtype(const Json& value) {
  const std::string name = value.is_string() ? value.get<std::string>() : std::string();
  return name.find("fp4") != name.npos || name.find("fp8") != name.npos;
}

void removeQuantization(Json& config) {
  if (config.is_object()) {
    config.erase("quantization_config");
    config.erase("compression_config");
    if (isMlxBlock(memberAt(config, {"quantization"})))
      config.erase("quantization");
    if (isNarrowDtype(memberAt(config, {"expert_dtype"})))
      config.erase("expert_dtype");
  }
  if (config.is_structured())
    for (Json& each : config)
      removeQuantization(each);
}

void setQuantization(Json& config, Json block) {
  if (!config.is_object())
    config = Json::object();
  removeQuantization(config);
  config["quantization_config"] = std::move(block);
}

/// Keys under which models state the dtype of their weights.
static constexpr std::array kDtypeKeys = {"torch_dtype", "dtype"};

/// Parts of a configuration that may describe the language model, the outermost first.
static constexpr std::array kLanguageParts = {"text_config", "language_config", "llm_config",
                                              "thinker_config"};

/// Calls `visit(part)` for a configuration and its parts that describe the language model, until
/// `visit` returns true; returns whether it did.
template <typename Part, typename Visit> static bool forLanguageParts(Part& config, Visit visit) {
  if (!config.is_object())
    return false;
  if (visit(config))
    return true;
  for (const char* key : kLanguageParts)
    if (const auto part = config.find(key); part != config.end() && forLanguageParts(*part, visit))
      return true;
  return false;
}

const SafetensorsDtype& modelDtype(const Json& config) {
  const SafetensorsDtype* found = nullptr;
  forLanguageParts(config, [&](const Json& part) {
    for (const char* key : kDtypeKeys)
      for (const kernels::WideType type :
           {kernels::WideType::F16, kernels::WideType::F32, kernels::WideType::Bf16})
        if (!found && stringAt(part, key) == plainDtype(type).type->format().torch)
          found = &plainDtype(type);
    return found != nullptr;
  });
  return found ? *found : plainDtype(kernels::WideType::Bf16);
}

void setModelDtype(Json& config, const SafetensorsDtype& dtype) {
  forLanguageParts(config, [&](Json& part) {
    for (const char* key : kDtypeKeys)
      if (part.contains(key))
        part[key] = std::string_view(dtype.type->format().torch);
    return false;
  });
}

const Json& modelMember(const Json& config, const char* key) {
  const Json* found = &kNone;
  forLanguageParts(config, [&](const Json& part) {
    found = &memberAt(part, {key});
    return !found->is_null();
  });
  return *found;
}

bool isOfDeepSeekV4(const Json& config) {
  return forLanguageParts(config, [](const Json& part) {
    return stringAt(part, "model_type").starts_with("deepseek_v4");
  });
}

ExpertLabel expertLabel(const Folder& folder) {
  const Json& block = folder.quantizationConfig();
  for (const Json* label :
       {&memberAt(block, {"expert_dtype"}), &modelMember(folder.config(), "expert_dtype")})
    if (label->is_string())
      return {label->get<std::string>()};
  // vLLM, models/deepseek_v4: getattr(config, "expert_dtype", "fp4").
  if (block.is_object() && isOfDeepSeekV4(folder.config()))
    return {"fp4", true};
  return {};
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
