#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"

#include "octavo/Base/NaturalOrder.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace octavo::checkpoint {

namespace {

/// What projects to keys: of Llama and its kin; of those that keep q, k and v in one; of DeepSeek.
constexpr auto kKeyProjections = std::to_array<std::string_view>(
    {"k_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "kv_a_proj_with_mqa"});

/// What components of names begin with, of the parts of a model that look at images and listen to
/// sound: they see all of their input at once and keep nothing. (Not "encoder": ChatGLM's decoder
/// is called that.)
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
