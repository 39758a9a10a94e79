// Reading and rewriting of the JSON in which producers describe a quantization. Readers take what
// has the type that they expect and nothing else: a configuration may hold anything.
#pragma once

#include "octavo/Checkpoint/Layouts/LayerScan.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The member at a path of keys; null (the JSON value) where it ends early.
const Json& memberAt(const Json& value, std::initializer_list<const char*> path);

/// The member as a string, a whole number, a list's strings; empty or nothing where it is no such.
std::string stringAt(const Json& value, const char* key);
std::optional<std::int64_t> integerAt(const Json& value, const char* key);
std::vector<std::string> stringsAt(const Json& value, const char* key);

/// The folder's quantizationConfig; null where that is of a quant_method that octavo does not read,
/// whose members mean something else.
const Json& readableQuantization(const Folder& folder);

/// Reports the entries of a list that named no module, but for heads that are tied and have no
/// tensor of their own, and those that took too long.
void reportUnused(const Folder& folder, const NamePatterns& patterns, std::string_view key,
                  Findings& findings);
/// The same of a list whose entries come from several keys.
void reportUnused(const Folder& folder, const NamePatterns& patterns,
                  const NamePatterns::KeyOf& keyOf, Findings& findings);

/// Reports what a configuration says is transformed as the model runs, which no other layout says.
void reportTransforms(std::span<const std::string> transforms, std::string_view key,
                      Inventory& inventory, Findings& findings);

/// Whether config.json or hf_quant_config.json describes a quantization.
bool saysQuantized(const Folder& folder);

/// Takes every description of a quantization out of config.json, at any depth, and what labels the
/// dtype of experts.
void removeQuantization(Json& config);
/// Puts `block` in as quantization_config, in place of any other.
void setQuantization(Json& config, Json block);

/// The dtype that a model's configuration says its weights have; BF16 where it says none that is
/// a WideType.
const SafetensorsDtype& modelDtype(const Json& config);
/// Has it say that dtype, where it says one: itself, or the part of the language model.
void setModelDtype(Json& config, const SafetensorsDtype& dtype);

/// The member of a model's configuration, or of the part of it that describes the language model
/// (text_config, language_config, llm_config, thinker_config.text_config); null where neither has
/// it.
const Json& modelMember(const Json& config, const char* key);

/// Whether a configuration is of DeepSeek-V4, whose routed experts have a dtype of their own.
bool isOfDeepSeekV4(const Json& config);
/// What a quantized checkpoint says of the dtype of its routed experts: expert_dtype. Readers of
/// DeepSeek-V4 take a missing one for "fp4". Empty where nothing is said.
struct ExpertLabel {
  std::string value;
  bool isDefault = false;
};
ExpertLabel expertLabel(const Folder& folder);

/// The object of these members, whose keys are distinct. Assigned one by one each key would be
/// searched for among all: a second for ten thousand layers.
Json objectOf(std::vector<std::pair<std::string, Json>> members);

/// The formats of `choice`, each with what becomes of its activations, and the names of their
/// modules, in the order of first appearance.
struct ChosenGroup {
  const format::ScaledFormat* format;
  Activations activations;
  std::vector<std::string> modules;
};
std::vector<ChosenGroup> groupByFormat(const LayoutChoice& choice);

/// What a layout says of the activations of one layer that are wanted so.
using SaysActivations = Activations (*)(const format::ScaledFormat& weights, Activations wanted);
/// settleActivations of layouts that say them for each layer: `says` of what is wanted if that is
/// alike, else of the dynamic kind, else wide.
void settleEach(std::span<ChosenLayer> layers, SaysActivations says);

} // namespace octavo::checkpoint
