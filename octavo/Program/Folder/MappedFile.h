// A file's bytes as memory that processes share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace octavo::program {

/// The bytes of a file for as long as somebody holds them.
struct Mapping {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> holder;
};

struct MappingError {
  std::string message; ///< begins with the file's path
  bool isMissing;      ///< there is no such file
};

tl::expected<Mapping, MappingError> map(const std::filesystem::path& file);

} // namespace octavo::program
