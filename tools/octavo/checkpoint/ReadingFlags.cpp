#include "tools/octavo/checkpoint/ReadingFlags.h"

#include "tools/octavo/Threads.h"
#include "tools/octavo/checkpoint/SideFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace octavo::tools {

namespace {

std::vector<std::string> layoutNames() {
  std::vector<std::string> names;
  for (const checkpoint::Layout* layout : checkpoint::layouts())
    names.emplace_back(layout->name());
  return names;
}

} // namespace

void addWorkFlags(CLI::App& command, WorkFlags& flags) {
  command
      .add_option(
          "--memory", flags.memory,
          "Memory for the pieces being processed, such as 256MB or 2GB; about 100 MB come on top")
      ->transform(CLI::AsSizeValue(true))
      // CLI11 runs this before AsSizeValue, which takes -1 for 2^64 - 1.
      ->transform(CLI::Validator(
          [](const std::string& text) {
            return !text.empty() && text.find_first_not_of("0123456789") != 0
                       ? std::string()
                       : fmt::format("expected a size such as 256MB or 2GB, found {}", text);
          },
          ""))
      // A smaller limit would be exceeded by the first piece of a weight.
      ->check([](const std::string& bytes) {
        return bytes.size() < 7 && std::stoull(bytes) < 1000000
                   ? fmt::format("expected 1MB or more, found {} bytes", bytes)
                   : std::string();
      })
      ->type_name("SIZE")
      ->default_str("1GB");
  addThreadsOption(command, flags.threads);
}

checkpoint::WorkSettings workSettings(const WorkFlags& flags) {
  return {.memory = flags.memory, .threads = flags.threads};
}

CLI::Option* addLayoutOption(CLI::App& command, const std::string& option, std::string& layout,
                             const std::string& help) {
  return command
      .add_option(option, layout, fmt::format("{}: {}", help, fmt::join(layoutNames(), ", ")))
      ->type_name("LAYOUT");
}

void addFromOption(CLI::App& command, std::string& layout) {
  addLayoutOption(command, "--from", layout,
                  "Read the checkpoint as this layout instead of detecting it");
}

void addAgainstFromOption(CLI::App& command, std::string& layout, const std::string& other) {
  addLayoutOption(command, "--against-from", layout, fmt::format("The same for {}", other));
}

const checkpoint::Layout& layoutNamed(const std::string& name) {
  if (const checkpoint::Layout* layout = checkpoint::findLayout(name))
    return *layout;
  throw CommandError(unknownName("layout", name, layoutNames()), ExitCode::BadUsage);
}

kernels::WideType wideTypeNamed(const std::string& name) {
  const std::pair<const char*, kernels::WideType> types[] = {{"bf16", kernels::WideType::Bf16},
                                                             {"f16", kernels::WideType::F16},
                                                             {"f32", kernels::WideType::F32}};
  std::vector<std::string> known;
  for (const auto& [known_name, type] : types) {
    if (name == known_name)
      return type;
    known.emplace_back(known_name);
  }
  throw CommandError(unknownName("dtype", name, known), ExitCode::BadUsage);
}

const checkpoint::Layout* layoutIfNamed(const std::string& name) {
  return name.empty() ? nullptr : &layoutNamed(name);
}

checkpoint::Folder openFolder(const std::string& path, checkpoint::UnfinishedJob unfinished) {
  auto folder = checkpoint::Folder::open(path, unfinished);
  if (!folder)
    throw CommandError(folder.error().message(), ExitCode::BadInput);
  checkOutputs(*folder);
  return std::move(*folder);
}

const checkpoint::Layout& layoutOf(const checkpoint::Folder& folder, const std::string& name) {
  if (!name.empty())
    return layoutNamed(name);
  checkpoint::Findings ignored; // lint reports other layouts that it might be
  const checkpoint::DetectedLayout detected = checkpoint::detectLayout(folder, ignored);
  if (detected.isForeign)
    throw CommandError(checkpoint::foreignLayout(folder, detected).message(), ExitCode::BadInput);
  return *detected.layout;
}

std::uint64_t bytesOf(const checkpoint::Folder& folder) {
  std::uint64_t bytes = 0;
  for (const checkpoint::StoredTensor& tensor : folder.tensors())
    bytes += tensor.size();
  return bytes;
}

} // namespace octavo::tools
