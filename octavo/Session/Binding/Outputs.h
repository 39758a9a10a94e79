// Results of a program as files.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace octavo::session {

struct NamedOutput {
  std::string name;
  const numerics::Tensor* tensor;
};

/// The files that writeOutputs writes for outputs of these names.
std::vector<std::filesystem::path> outputFiles(const std::filesystem::path& path,
                                               std::span<const std::string> names);

/// Writes outputs to a .safetensors file by their names, one output to a .npy file, or all of them
/// to a folder, which is made where it does not exist, as NAME.npy; bytes of a name that are not
/// letters, digits, '.', '-' or '_' become '_'. A path with another ending is a folder. Of
/// quantized tensors the storage is written.
llvm::Error writeOutputs(const std::filesystem::path& path, std::span<const NamedOutput> outputs);

} // namespace octavo::session
