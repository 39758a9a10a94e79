#include "octavo/Program/Folder/FolderCheck.h"

#include "octavo/Program/Folder/FileDigest.h"
#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Program/Folder/MappedFile.h"

#include <fmt/format.h>

namespace octavo::program {

namespace {

struct Problem {
  std::string message;
  bool isMissing = false; ///< a file that program.octavo names is missing
};

tl::expected<void, Problem> checkPart(const std::filesystem::path& file, const FolderPart& part,
                                      std::size_t endBytes) {
  const auto mapped = map(file);
  if (!mapped)
    return tl::make_unexpected(Problem{mapped.error().message, mapped.error().isMissing});
  const auto bytes = mapped->bytes;
  if (bytes.size() != part.size || bytes.size() < endBytes ||
      fileDigest(bytes.first(bytes.size() - endBytes)) != part.digest)
    return tl::make_unexpected(Problem{fmt::format("{}: {}", file.string(), kDamaged)});
  return {};
}

tl::expected<std::vector<CheckedFile>, Problem> check(const std::filesystem::path& folder,
                                                      std::span<const std::byte> bytes) {
  const auto file = readFolderFile(bytes);
  if (!file)
    return tl::make_unexpected(
        Problem{fmt::format("{}: {}", (folder / kProgramFile).string(), file.error())});
  std::vector<CheckedFile> files = {{std::string(kProgramFile), bytes.size()}};
  const auto weights = folder / file->weightsFile();
  if (auto checked = checkPart(weights, file->weights, kWeightsEndBytes); !checked)
    return tl::make_unexpected(checked.error());
  if (const auto mapped = map(weights))
    if (auto checked = checkWeightsEnd(mapped->bytes, file->weights); !checked)
      return tl::make_unexpected(Problem{fmt::format("{}: {}", weights.string(), checked.error())});
  files.push_back({file->weightsFile(), file->weights.size});
  if (file->kernels.size == 0)
    return files;
  if (auto checked = checkPart(folder / file->kernelsFile(), file->kernels, 0); !checked)
    return tl::make_unexpected(checked.error());
  files.push_back({file->kernelsFile(), file->kernels.size});
  return files;
}

} // namespace

tl::expected<std::vector<std::byte>, std::string>
readProgramFile(const std::filesystem::path& folder) {
  const auto mapped = map(folder / kProgramFile);
  if (!mapped)
    return tl::make_unexpected(mapped.error().message +
                               "; a folder that `octavo compile` wrote was expected");
  return std::vector<std::byte>(mapped->bytes.begin(), mapped->bytes.end());
}

tl::expected<std::vector<CheckedFile>, std::string>
checkFolder(const std::filesystem::path& folder) {
  std::vector<std::byte> before;
  for (;;) {
    auto bytes = readProgramFile(folder);
    if (!bytes)
      return tl::make_unexpected(bytes.error());
    auto checked = check(folder, *bytes);
    if (checked)
      return std::move(*checked);
    if (!checked.error().isMissing || *bytes == before) // else the folder was replaced meanwhile
      return tl::make_unexpected(std::move(checked.error().message));
    before = std::move(*bytes);
  }
}

} // namespace octavo::program
