#include "tools/octavo/Commands.h"

#include "octavo/Base/NearNames.h"

#include <fmt/format.h>

namespace octavo::tools {

std::string unknownName(const std::string& kind, const std::string& name,
                        const std::vector<std::string>& known) {
  std::string message = fmt::format("no {} \"{}\"", kind, name);
  const std::vector<std::string> near = base::nearNames(name, known);
  if (!near.empty())
    message += fmt::format("; did you mean {}?", fmt::join(near, ", "));
  if (!known.empty() && known.size() <= 40)
    message += fmt::format("\n  available: {}", fmt::join(known, ", "));
  return message;
}

} // namespace octavo::tools
