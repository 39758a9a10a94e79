#include "octavo/Checkpoint/ExpertStacks.h"

namespace octavo::checkpoint {

bool isExpertStack(std::string_view module, std::string_view parameter) {
  return (module == "experts" || module.ends_with(".experts")) &&
         (parameter == "gate_up_proj" || parameter == "down_proj");
}

} // namespace octavo::checkpoint
