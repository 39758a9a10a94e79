// Executables that can be written to a folder.
#pragma once

#include "octavo/Program/Values/Donation.h"
#include "octavo/Program/Values/Outcome.h"
#include "octavo/Program/Values/Value.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::program {

/// The names by which a function is called, what it gives away, and how many items it takes (one
/// where nothing is open).
struct Signature {
  std::string function;
  std::vector<std::string> arguments, results;
  std::vector<Donation> donations;
  std::int64_t leastItems = 1, mostItems = 1;
};

/// What an Executable is besides, if it is compiled.
class Savable {
public:
  virtual ~Savable() = default;

  /// Writes it to a folder, from which it runs without a compiler (Program/Folder/LoadedProgram.h),
  /// with the values that arguments are bound to, and is not run afterwards. The error names what
  /// cannot be written, or the file.
  virtual Outcome save(const std::filesystem::path& folder, const Signature& signature,
                       std::span<const std::optional<Value>> bound) = 0;
};

} // namespace octavo::program
