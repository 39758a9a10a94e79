// Reading and rewriting of the JSON in which producers describe a quantization. Readers take what
// has the type that they expect and nothing else: a configuration may hold anything.
#pragma once

#include "octavo/Checkpoint/Layouts/LayerScan.h"

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

/// The rows that quantizers of the same configuration pair: what activations that are quantized
/// before they meet weights of `format` are.
Activations activationsFor(std::string_view format, Activations::Kind kind);

/// Reports the entries of a list that named no module. `tied` heads have no tensor of their own.
void reportUnused(const Folder& folder, std::span<const std::string_view> unused,
                  std::string_view key, Findings& findings);

/// Takes every description of a quantization out of config.json.
void removeQuantization(Json& config);
/// Puts `block` in as quantization_config, in place of any other.
void setQuantization(Json& config, Json block);

/// The object of these members, whose keys are distinct. Assigned one by one each key would be
/// searched for among all: a second for ten thousand layers.
Json objectOf(std::vector<std::pair<std::string, Json>> members);

/// The formats of `choice` with the names of their modules, in the order of first appearance.
struct ChosenGroup {
  const format::ScaledFormat* format;
  std::vector<std::string> modules;
};
std::vector<ChosenGroup> groupByFormat(const LayoutChoice& choice);

} // namespace octavo::checkpoint
