#include "octavo/Program/Values/StateArguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::program {

namespace {

struct StateArgument {
  const char* name;
  const char* first; ///< its value before the first step
};
constexpr StateArgument kStateArguments[] = {
    {"octavo.random", "any seed and 0"}, {"octavo.scales", "1"}, {"octavo.histories", "0"}};

} // namespace

std::string sourceOfState(std::span<const std::string> missing) {
  for (const auto& [name, first] : kStateArguments)
    if (std::ranges::find(missing, name) != missing.end())
      return fmt::format(
          "\n  {} is {} before the first step, then what the step before returned; in "
          "Python octavo.training.ProgramState.initial(program, seed) makes it",
          name, first);
  return "";
}

} // namespace octavo::program
