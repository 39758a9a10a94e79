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

/// A function's names, donations and batch sizes ({1, 1} if no batch is open).
struct Signature {
  std::string function;
  std::vector<std::string> arguments, results;
  std::vector<Donation> donations;
  std::int64_t leastItems = 1, mostItems = 1;
};

/// The interface of executables that can be saved: compiled ones.
class Savable {
public:
  virtual ~Savable() = default;

  /// Writes the program and the values in `bound` to a folder, from which it runs without a
  /// compiler (Program/Folder/LoadedProgram.h). The executable must not run afterwards. The error
  /// names what cannot be written, or the file.
  virtual Outcome save(const std::filesystem::path& folder, const Signature& signature,
                       std::span<const std::optional<Value>> bound) = 0;
};

} // namespace octavo::program
