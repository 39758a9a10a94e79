#include "octavo/Checkpoint/ModuleNames/RouterModules.h"

namespace octavo::checkpoint {

bool isRouter(std::string_view module) {
  for (std::string_view rest = module; !rest.empty();) {
    const std::size_t dot = rest.find('.');
    const std::string_view component = rest.substr(0, dot);
    const bool isLast = dot == std::string_view::npos;
    // A router may be a module of several ("router.layer" of Granite); "gate" and
    // "shared_expert_gate" are the matrices themselves (Mixtral, Qwen MoE, DeepSeek).
    if (component == "router" ||
        (isLast && (component == "gate" || component == "shared_expert_gate")))
      return true;
    rest = isLast ? std::string_view() : rest.substr(dot + 1);
  }
  return false;
}

} // namespace octavo::checkpoint
