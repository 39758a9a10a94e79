// Maps files into memory that processes share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace octavo::program {

/// The bytes of a file, valid as long as `holder` is kept.
struct Mapping {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> holder;
};

/// Why a file was not mapped.
struct MappingError {
  std::string message; ///< begins with the file's path
  bool isMissing;      ///< the file does not exist
};

/// Maps a file for reading.
tl::expected<Mapping, MappingError> map(const std::filesystem::path& file);

} // namespace octavo::program
