// A compiled folder, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::program {

/// The bytes of the folder's program.octavo, at one moment. The error names the file.
tl::expected<std::vector<std::byte>, std::string>
readProgramFile(const std::filesystem::path& folder);

struct CheckedFile {
  std::string name; ///< within the folder
  std::uint64_t size;
};

/// Holds each file of a folder to the digest and the size that it was written with, all bytes of
/// them, which loading does not do for weights. Gives the files. The error names the one that is
/// not what was written. It runs nothing, and may be of another machine's folder.
tl::expected<std::vector<CheckedFile>, std::string>
checkFolder(const std::filesystem::path& folder);

} // namespace octavo::program
