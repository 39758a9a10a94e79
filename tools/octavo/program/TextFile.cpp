#include "tools/octavo/program/TextFile.h"

#include "tools/octavo/Commands.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

namespace octavo::tools {

void checkIsNoInput(const std::filesystem::path& output, std::span<const std::string> inputs) {
  std::error_code unknown; // of files that are not there
  for (const std::string& input : inputs)
    if (std::filesystem::equivalent(output, input, unknown))
      throw CommandError(
          fmt::format("{}: would overwrite what the command reads; choose another file",
                      output.string()),
          ExitCode::BadUsage);
}

checkpoint::OutputFile createFile(const std::filesystem::path& path) {
  auto file = checkpoint::OutputFile::create(path);
  if (!file)
    throw CommandError(file.error().message(), ExitCode::BadInput);
  return std::move(*file);
}

void commit(checkpoint::OutputFile& file, const std::string& text) {
  const auto written = file.write(std::string_view(text)).and_then([&] { return file.commit(); });
  if (!written)
    throw CommandError(written.error().message(), ExitCode::BadInput);
}

void writeText(const std::filesystem::path& path, const std::string& text) {
  checkpoint::OutputFile file = createFile(path);
  commit(file, text);
}

} // namespace octavo::tools
