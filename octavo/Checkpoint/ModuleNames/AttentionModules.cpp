#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"

#include "octavo/Base/NaturalOrder.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace octavo::checkpoint {

namespace {

/// Names of key projections: of Llama and similar models; of models with one projection for q, k
/// and v; of DeepSeek.
constexpr auto kKeyProjections = std::to_array<std::string_view>(
    {"k_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "kv_a_proj_with_mqa"});

/// Prefixes of name components of vision and audio towers, which see their whole input at once and
/// have no cache. (Not "encoder": ChatGLM's decoder has that name.)
constexpr auto kTowers =
    std::to_array<std::string_view>({"vision", "visual", "image", "audio", "speech"});

bool isInTower(std::string_view module) {
  for (std::size_t begin = 0; begin < module.size();) {
    const std::string_view rest = module.substr(begin);
    if (std::ranges::any_of(kTowers, [&](std::string_view word) { return rest.starts_with(word); }))
      return true;
    begin = std::min(module.find('.', begin), module.size() - 1) + 1;
  }
  return false;
}

} // namespace

std::vector<std::string> attentionModules(const Folder& folder) {
  std::set<std::string> found;
  for (const StoredTensor& tensor : folder.tensors()) {
    const std::string_view name = tensor.name();
    const std::size_t parameter = name.rfind('.');
    if (parameter == name.npos)
      continue;
    const std::size_t module = name.rfind('.', parameter - 1);
    if (module == name.npos || parameter == 0)
      continue;
    const std::string_view last = name.substr(module + 1, parameter - module - 1);
    if (std::ranges::find(kKeyProjections, last) != kKeyProjections.end() &&
        name.substr(parameter + 1).starts_with("weight") && !isInTower(name.substr(0, module)))
      found.emplace(name.substr(0, module));
  }
  std::vector<std::string> modules(found.begin(), found.end());
  std::ranges::sort(modules, base::precedesNaturally);
  return modules;
}

} // namespace octavo::checkpoint
