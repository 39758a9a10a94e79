// Reads and rewrites the JSON in which producers describe a quantization. The functions ignore
// members that do not have the expected type: a configuration may contain anything.
#pragma once

#include "octavo/Checkpoint/Layouts/LayerScan.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The member at a path of keys; the JSON value null if the path does not exist.
const Json& memberAt(const Json& value, std::initializer_list<const char*> path);

/// The member as a string, a whole number, or the strings of a list; empty or nullopt if it has
/// another type.
std::string stringAt(const Json& value, const char* key);
std::optional<std::int64_t> integerAt(const Json& value, const char* key);
std::vector<std::string> stringsAt(const Json& value, const char* key);

/// The folder's quantizationConfig; null if its quant_method is one that octavo does not read,
/// because the members then have other meanings.
const Json& readableQuantization(const Folder& folder);

/// Reports entries of a list that matched no module (except tied heads, which have no tensor of
/// their own) and entries whose matching was given up. `key` is the list's key in the
/// configuration.
void reportUnused(const Folder& folder, const NamePatterns& patterns, std::string_view key,
                  Findings& findings);
/// The same for a list whose entries come from several keys.
void reportUnused(const Folder& folder, const NamePatterns& patterns,
                  const NamePatterns::KeyOf& keyOf, Findings& findings);

/// Reports transforms that the configuration applies at run time, and adds them to
/// inventory.unread: no other layout can express them.
void reportTransforms(std::span<const std::string> transforms, std::string_view key,
                      Inventory& inventory, Findings& findings);

/// Whether config.json or hf_quant_config.json describes a quantization.
bool saysQuantized(const Folder& folder);

/// Removes every description of a quantization from config.json, at any depth, and labels of the
/// experts' dtype.
void removeQuantization(Json& config);
/// Sets quantization_config to `block`, and removes any other description.
void setQuantization(Json& config, Json block);

/// The dtype of the weights as the model's configuration states it; BF16 if it states no wide type.
const SafetensorsDtype& modelDtype(const Json& config);
/// Sets the dtype wherever the configuration of the model or of its language model states one.
void setModelDtype(Json& config, const SafetensorsDtype& dtype);

/// The member of a model's configuration, or of its part that describes the language model
/// (text_config, language_config, llm_config, thinker_config.text_config); null if neither has it.
const Json& modelMember(const Json& config, const char* key);

/// Whether the configuration is of DeepSeek-V4, whose routed experts have their own dtype.
bool isOfDeepSeekV4(const Json& config);
/// The dtype of routed experts that a quantized checkpoint states: expert_dtype. Empty if it states
/// none; readers of DeepSeek-V4 assume "fp4" then (isDefault).
struct ExpertLabel {
  std::string value;
  bool isDefault = false; ///< not stated, but assumed by readers
};
ExpertLabel expertLabel(const Folder& folder);

/// An object of these members, whose keys are distinct. Inserting by key would search all keys each
/// time: a second for ten thousand layers.
Json objectOf(std::vector<std::pair<std::string, Json>> members);

/// The layers of `choice` grouped by format and activations, in order of first appearance.
struct ChosenGroup {
  const format::ScaledFormat* format;
  Activations activations;
  std::vector<std::string> modules;
};
std::vector<ChosenGroup> groupByFormat(const LayoutChoice& choice);

/// What a layout can state about a layer's activations if `wanted` are wanted.
using SaysActivations = Activations (*)(const format::ScaledFormat& weights, Activations wanted);
/// settleActivations for layouts that state activations layer by layer. Tries the wanted
/// activations, then dynamic ones, then wide ones, and takes the first for which `says` gives alike
/// ones.
void settleEach(std::span<ChosenLayer> layers, SaysActivations says);

} // namespace octavo::checkpoint
