// What a program's probes write, as files.
#pragma once

#include "octavo/Execution/Probes.h"

#include <filesystem>
#include <mutex>
#include <string_view>

namespace octavo::runtime {

/// Whether a ProbeFolder may write a file of this name.
bool isProbeFile(std::string_view name);

/// probe1.npy, probe2.npy, ... in the order in which probes come, and a line "ID,TYPE,PATH" for
/// each in index.csv. Elements of types that NumPy does not have are written as their codes.
class ProbeFolder : public execution::Probes {
public:
  /// Makes the folder where it is not there, and an empty index.
  static llvm::Expected<std::unique_ptr<ProbeFolder>> make(const std::filesystem::path& folder);

  llvm::Error write(llvm::StringRef id, mlir::RankedTensorType type,
                    const execution::Tensor& tensor) override;
  llvm::Expected<execution::Tensor> read(llvm::StringRef id, std::uint32_t iteration,
                                         mlir::RankedTensorType type) override;

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

} // namespace octavo::runtime
