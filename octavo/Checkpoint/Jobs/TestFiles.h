// Helpers of job tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace octavo::checkpoint {

/// All bytes of a file.
inline std::string fileText(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace octavo::checkpoint
