// What a program's probes write, as files.
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

/// Whether a ProbeFolder may write a file of this name.
bool isProbeFile(std::string_view name);

/// probe1.npy, probe2.npy, ... in the order in which probes come, and a line "ID,TYPE,PATH" for
/// each in index.csv. Elements of types that NumPy does not have are written as their codes.
class ProbeFolder : public program::Probes {
public:
  /// Makes the folder where it is not there, and an empty index.
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
