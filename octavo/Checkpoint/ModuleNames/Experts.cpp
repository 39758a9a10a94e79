#include "octavo/Checkpoint/ModuleNames/Experts.h"

namespace octavo::checkpoint {

bool isExpertStack(std::string_view module, std::string_view parameter) {
  return (module == "experts" || module.ends_with(".experts")) &&
         (parameter == "gate_up_proj" || parameter == "down_proj");
}

std::string_view expertsOf(std::string_view module) {
  constexpr std::string_view kExperts = ".experts.";
  const std::size_t at = module.find(kExperts);
  if (at == std::string_view::npos)
    return {};
  const std::size_t number = at + kExperts.size();
  const std::size_t end = module.find_first_not_of("0123456789", number);
  return end != std::string_view::npos && end > number && module[end] == '.'
             ? module.substr(0, number - 1)
             : std::string_view();
}

} // namespace octavo::checkpoint
