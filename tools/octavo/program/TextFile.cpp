#include "tools/octavo/program/TextFile.h"

#include "tools/octavo/Commands.h"

#include <string_view>
#include <utility>

namespace octavo::tools {

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
