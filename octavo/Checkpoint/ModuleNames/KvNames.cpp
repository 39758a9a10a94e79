#include "octavo/Checkpoint/ModuleNames/KvNames.h"

#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <array>

namespace octavo::checkpoint {

namespace {

struct KvName {
  std::string_view suffix; ///< follows the attention module and a dot
  KvRole role;
};

// vLLM model_loader/weight_utils.py, maybe_remap_kv_scale_name, and the producers' exports. Longer
// names come first: "k_proj.k_scale" also ends in "k_scale".
constexpr auto kKvNames = std::to_array<KvName>({
    {"k_proj.k_scale", KvRole::Key},            // ModelOpt
    {"v_proj.v_scale", KvRole::Value},          // ModelOpt
    {"k_proj.output_scale", KvRole::Key},       // Quark
    {"v_proj.output_scale", KvRole::Value},     // Quark
    {"q_proj.output_scale", KvRole::Query},     // Quark
    {"prob_output_scale", KvRole::Probability}, // Quark
    {"attn.k_scale", KvRole::Key},              // vLLM's own module names, "self_attn.attn"
    {"attn.v_scale", KvRole::Value},
    {"k_scale", KvRole::Key}, // AutoFP8, compressed-tensors
    {"v_scale", KvRole::Value},
    {"q_scale", KvRole::Query},
    {"kv_scale", KvRole::KeyAndValue}, // AutoFP8's first version
});

/// Whether the last component of a module's name denotes attention: "self_attn", "attention".
bool isAttention(std::string_view module) {
  const std::string_view last = lastComponent(module);
  return last.find("attn") != last.npos || last.find("attention") != last.npos;
}

} // namespace

std::optional<KvNameMatch> matchKvName(std::string_view tensor) {
  for (const KvName& name : kKvNames) {
    if (!tensor.ends_with(name.suffix))
      continue;
    const std::size_t before = tensor.size() - name.suffix.size();
    if (before == 0 || tensor[before - 1] != '.')
      continue;
    const std::string_view module = tensor.substr(0, before - 1);
    if (name.suffix.starts_with("attn.") && !isAttention(module))
      continue; // GPT-2's attention is "h.0.attn" itself
    return KvNameMatch{module, name.role};
  }
  return std::nullopt;
}

} // namespace octavo::checkpoint
