#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <charconv>

namespace octavo::checkpoint {

bool isExpertStack(std::string_view module, std::string_view parameter) {
  return (module == "experts" || module.ends_with(".experts")) &&
         (parameter == "gate_up_proj" || parameter == "down_proj");
}

std::optional<Expert> expertOf(std::string_view module) {
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = module.find('.', begin);
    if (end == std::string_view::npos)
      return std::nullopt;
    const std::string_view component = module.substr(begin, end - begin);
    begin = end + 1;
    if (component != "experts" && component != "local_experts")
      continue;
    const std::string_view rest = module.substr(begin);
    std::uint32_t number = 0;
    const auto [after, failed] = std::from_chars(rest.begin(), rest.end(), number);
    if (failed == std::errc() && after != rest.end() && *after == '.' && after + 1 != rest.end())
      return Expert{module.substr(0, end), number,
                    rest.substr(static_cast<std::size_t>(after + 1 - rest.begin()))};
  }
  return std::nullopt;
}

std::string_view expertsOf(std::string_view module) {
  const std::optional<Expert> expert = expertOf(module);
  return expert ? expert->experts : std::string_view();
}

} // namespace octavo::checkpoint
