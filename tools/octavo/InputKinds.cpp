#include "tools/octavo/InputKinds.h"

#include "tools/octavo/Help.h"
#include "tools/octavo/Paths.h"

#include "octavo/Base/PrintableText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace octavo::tools {

namespace {

namespace fs = std::filesystem;

constexpr auto kPrograms =
    std::to_array<std::string_view>({".mlir", ".mlirbc", ".stablehlo", ".jax_export"});
constexpr auto kOtherFiles =
    std::to_array<std::string_view>({".safetensors", ".onnx", ".pt2", ".pt", ".pth", ".bin",
                                     ".ckpt", ".gguf", ".npy", ".npz", ".json", ".h5", ".txt"});

bool endsWithOneOf(std::string_view name, const auto& endings) {
  return std::ranges::any_of(endings, [&](std::string_view each) { return name.ends_with(each); });
}

/// Whether a file is MLIR: by its suffix, or by the first bytes of MLIR bytecode.
bool isProgram(const fs::path& path) {
  if (endsWithOneOf(path.native(), kPrograms))
    return true;
  std::array<char, 4> bytes{};
  std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
  return std::string_view(bytes.data(), bytes.size()) == "ML\xefR";
}

/// Whether text that is not a path has the form of a model's name on the hub: OWNER/NAME.
bool isHubName(std::string_view text) {
  const std::size_t slash = text.find('/');
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  std::error_code none;
  return slash != text.npos && slash > 0 && slash + 1 < text.size() &&
         text.find('/', slash + 1) == text.npos && text.front() != '.' &&
         text.find_first_not_of(kLetters) == text.npos && !endsWithOneOf(text, kPrograms) &&
         !endsWithOneOf(text, kOtherFiles) && !fs::exists(text.substr(0, slash), none);
}

/// The newest snapshot in a repository of the hub's cache. Empty if `path` is not such a
/// repository.
fs::path snapshotIn(const fs::path& path) {
  std::error_code failed;
  fs::path newest;
  fs::file_time_type time;
  if (!fs::is_directory(path / "refs", failed))
    return newest;
  for (const fs::directory_entry& each : fs::directory_iterator(path / "snapshots", failed)) {
    std::error_code none;
    const fs::file_time_type written = each.last_write_time(none);
    if (newest.empty() || written > time) {
      newest = each.path();
      time = written;
    }
  }
  return newest;
}

[[noreturn]] void refuse(const std::string& given, const std::string& why) {
  throw CommandError(base::printable(given) + ": " + why, ExitCode::BadInput);
}

void check(const std::string& given, bool isOfCheckpoint) {
  std::error_code none;
  if (!fs::exists(given, none)) {
    if (isHubName(given))
      refuse(given, fmt::format("there is no such file or folder; if it is a model of the Hugging "
                                "Face hub, download it first: hf download {} --local-dir {}",
                                given, fs::path(given).filename().string()));
    return;
  }
  if (fs::is_directory(given, none)) {
    if (const fs::path snapshot = snapshotIn(given); !snapshot.empty())
      refuse(given, fmt::format("is a model in the Hugging Face hub's cache; its checkpoint is the "
                                "folder {}",
                                base::printable(snapshot.string())));
    if (isOfCheckpoint && fs::exists(fs::path(given) / "program.octavo", none))
      refuse(given,
             fmt::format("is a compiled program, not a checkpoint; `octavo run {0}` runs it, "
                         "and `octavo verify {0}` checks it",
                         base::printable(given)));
    return;
  }
  if (isOfCheckpoint && fs::is_regular_file(given, none) && isProgram(given))
    refuse(given,
           fmt::format("is a program, not a checkpoint; `octavo quantize {0} --format FORMAT` "
                       "quantizes its matrix products, and `octavo run {0}` runs it",
                       base::printable(given)));
}

} // namespace

void checkInputKinds(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty())
    command = command->get_subcommands().front();
  const bool isOfCheckpoint = typedName(*command).starts_with("octavo checkpoint ");
  for (const CLI::Option* option : command->get_options()) {
    const std::string name = optionName(*option);
    const bool isWeights = name == "--weights" || name == "--against";
    if (!namesPath(*option) || (option->nonpositional() && !isWeights))
      continue;
    for (const std::string& given : option->results())
      check(given, isOfCheckpoint || isWeights);
  }
}

} // namespace octavo::tools
