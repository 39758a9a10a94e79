// Checks a compiled folder against its digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::program {

/// The bytes of the folder's program.octavo, read once. The error names the file.
tl::expected<std::vector<std::byte>, std::string>
readProgramFile(const std::filesystem::path& folder);

/// A file that was compared with its digest.
struct CheckedFile {
  std::string name; ///< relative to the folder
  std::uint64_t size;
};

/// Compares each file of a folder with the digest and size that it was written with. That includes
/// all bytes of weights, which loading does not check. Returns the files. The error names the file
/// that differs. Nothing is run, so the folder may be for another machine.
tl::expected<std::vector<CheckedFile>, std::string>
checkFolder(const std::filesystem::path& folder);

} // namespace octavo::program
