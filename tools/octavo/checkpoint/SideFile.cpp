#include "tools/octavo/checkpoint/SideFile.h"

#include "tools/octavo/Commands.h"

#include <fmt/format.h>

#include <system_error>

namespace octavo::tools {

void checkSideFile(const std::filesystem::path& output, const checkpoint::Folder& folder,
                   const std::function<bool(const std::filesystem::path&)>& isOwnKind) {
  const auto part = folder.ownFile(output);
  const auto own = part ? part : folder.otherFile(output);
  if (!own || (!part && isOwnKind(output)))
    return;
  const checkpoint::Error error = {
      .file = output.string(),
      .problem = fmt::format("is {} of the checkpoint itself, which it would overwrite",
                             checkpoint::inQuotes(*own)),
      .fix = "name another file for the output"};
  throw CommandError(error.message(), ExitCode::BadInput);
}

std::filesystem::path fileBehind(const std::filesystem::path& output) {
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::canonical(output, failed);
  return failed ? output : file; // there is none yet
}

} // namespace octavo::tools
