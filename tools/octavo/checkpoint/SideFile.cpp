#include "tools/octavo/checkpoint/SideFile.h"

#include "tools/octavo/Commands.h"

#include <fmt/format.h>

namespace octavo::tools {

void checkSideFile(const std::filesystem::path& output, const checkpoint::Folder& folder) {
  const auto own = folder.ownFile(output);
  if (!own)
    return;
  const checkpoint::Error error = {
      .file = output.string(),
      .problem = fmt::format("is {} of the checkpoint itself, which it would overwrite",
                             checkpoint::inQuotes(*own)),
      .fix = "name another file for the output"};
  throw CommandError(error.message(), ExitCode::BadInput);
}

} // namespace octavo::tools
