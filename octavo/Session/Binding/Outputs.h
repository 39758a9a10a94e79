// Writes the results of a program to files.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include "llvm/Support/Error.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace octavo::session {

/// An output with its name.
struct NamedOutput {
  std::string name;
  const numerics::Tensor* tensor;
};

/// The files that writeOutputs writes for outputs with these names.
std::vector<std::filesystem::path> outputFiles(const std::filesystem::path& path,
                                               std::span<const std::string> names);

/// Writes outputs to a .safetensors file by their names, a single output to a .npy file, or all
/// outputs to a folder as NAME.npy. A path with another ending is a folder, which is created if
/// needed. In file names, bytes other than letters, digits, '.', '-' and '_' become '_'. Quantized
/// tensors are written as their storage.
llvm::Error writeOutputs(const std::filesystem::path& path, std::span<const NamedOutput> outputs);

} // namespace octavo::session
