// A file that appears whole or not at all: written beside its place, synced, renamed.
#pragma once

#include "octavo/Checkpoint/Error.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

class OutputFile {
public:
  /// Creates a temporary file in the folder of `path`.
  static tl::expected<OutputFile, Error> create(const std::filesystem::path& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the temporary file unless commit has succeeded.
  ~OutputFile();

  tl::expected<void, Error> write(std::span<const std::byte> bytes);
  tl::expected<void, Error> write(std::string_view text);

  /// Syncs what was written, gives it the name it was asked for, and syncs the folder. A file of
  /// that name is replaced.
  tl::expected<void, Error> commit();

private:
  OutputFile(std::filesystem::path path, std::string temporary, int descriptor)
      : path(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor) {}
  tl::unexpected<Error> failure(const char* what, int code) const;

  std::filesystem::path path;
  std::string temporary;
  int descriptor;
};

} // namespace octavo::checkpoint
