// Writes the tensors of a program's probes to files.
#pragma once

#include "octavo/Program/Values/Probes.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::session {

/// Whether a ProbeFolder writes files of this name.
bool isProbeFile(std::string_view name);

/// Writes probe1.npy, probe2.npy, ... in the order of the probes' runs, and a line "ID,TYPE,PATH"
/// for each to index.csv. Elements of types that NumPy lacks are written as their codes.
class ProbeFolder : public program::Probes {
public:
  /// Creates the folder if needed, and an empty index.
  static llvm::Expected<std::unique_ptr<ProbeFolder>> make(const std::filesystem::path& folder);

  program::Outcome write(std::string_view id, std::string_view type,
                         const program::Tensor& tensor) override;
  tl::expected<program::Tensor, std::string> read(std::string_view id, std::uint32_t iteration,
                                                  std::string_view type) override;

private:
  struct Record {
    std::string id, type;
    numerics::ElementType elements;
    std::filesystem::path file;
  };

  explicit ProbeFolder(std::filesystem::path folder) : folder(std::move(folder)) {}

  std::filesystem::path folder;
  std::mutex mutex;
  std::vector<Record> records;
};

} // namespace octavo::session
