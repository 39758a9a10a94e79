#include "tools/octavo/checkpoint/SideFile.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/Paths.h"

#include <fmt/format.h>

#include <system_error>

namespace octavo::tools {

void checkOutputs(const checkpoint::Folder& folder) {
  for (const WrittenPath& output : writtenPaths()) {
    const auto part = folder.ownFile(output.path);
    const auto own = part ? part : folder.otherFile(output.path);
    const auto& isEarlier = output.traits.isEarlierOutput;
    if (!own || (!part && isEarlier && isEarlier(output.path)))
      continue;
    const checkpoint::Error error = {
        .file = output.path.string(),
        .problem = fmt::format("is {} of the checkpoint itself, which it would overwrite",
                               checkpoint::inQuotes(*own)),
        .fix = "name another file for the output"};
    throw CommandError(error.message(), ExitCode::BadInput);
  }
}

std::filesystem::path fileBehind(const std::filesystem::path& output) {
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::canonical(output, failed);
  return failed ? output : file; // it does not exist yet
}

} // namespace octavo::tools
