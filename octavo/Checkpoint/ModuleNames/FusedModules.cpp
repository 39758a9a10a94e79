#include "octavo/Checkpoint/ModuleNames/FusedModules.h"

#include <array>

namespace octavo::checkpoint {

namespace {

struct Fused {
  std::string_view name;
  std::array<std::string_view, 3> members; ///< last components of module names
};

// vLLM's packed modules. Mixtral calls gate w1 and up w3; DeepSeek projects both down first.
constexpr auto kFused = std::to_array<Fused>({
    {"qkv_proj", {"q_proj", "k_proj", "v_proj"}},
    {"gate_up_proj", {"gate_proj", "up_proj"}},
    {"w13", {"w1", "w3"}},
    {"fused_qkv_a_proj", {"q_a_proj", "kv_a_proj_with_mqa"}},
});

} // namespace

std::optional<std::string> fusedGroup(std::string_view module) {
  const std::size_t dot = module.rfind('.');
  const std::size_t last = dot == std::string_view::npos ? 0 : dot + 1;
  for (const Fused& fused : kFused)
    for (std::string_view member : fused.members)
      if (!member.empty() && module.substr(last) == member)
        return std::string(module.substr(0, last)).append(fused.name);
  return std::nullopt;
}

} // namespace octavo::checkpoint
