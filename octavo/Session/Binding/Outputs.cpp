#include "octavo/Session/Binding/Outputs.h"

#include "octavo/Session/Binding/Failure.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Checkpoint/Files/Safetensors.h"
#include "octavo/Program/Values/Argument.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <vector>

namespace octavo::session {

namespace {

llvm::Error checked(const tl::expected<void, checkpoint::Error>& written) {
  return written ? llvm::Error::success() : failure(written.error().message());
}

std::string fileName(const std::string& name) {
  std::string result = name.empty() ? "_" : name;
  for (char& c : result)
    if (!llvm::isAlnum(c) && c != '.' && c != '-' && c != '_')
      c = '_';
  return result + ".npy";
}

bool isFolder(const std::filesystem::path& path) {
  return path.extension() != ".safetensors" && path.extension() != ".npy";
}

} // namespace

std::vector<std::filesystem::path> outputFiles(const std::filesystem::path& path,
                                               std::span<const std::string> names) {
  if (!isFolder(path))
    return {path};
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names)
    files.push_back(path / fileName(name));
  return files;
}

llvm::Error writeOutputs(const std::filesystem::path& path, std::span<const NamedOutput> given) {
  // Quantized tensors are written as their storage.
  std::deque<numerics::Tensor> storage;
  std::vector<NamedOutput> outputs(given.begin(), given.end());
  for (NamedOutput& output : outputs)
    if (output.tensor->type.isQuantized())
      output.tensor = &storage.emplace_back(numerics::Tensor{
          program::typeInFiles(output.tensor->type), output.tensor->shape, output.tensor->bytes});
  if (path.extension() == ".safetensors") {
    std::vector<checkpoint::NamedTensor> tensors;
    for (const NamedOutput& output : outputs)
      tensors.push_back({output.name, output.tensor});
    return checked(checkpoint::writeSafetensors(path, tensors));
  }
  if (path.extension() == ".npy") {
    if (outputs.size() != 1)
      return failure(fmt::format("{}: a .npy file holds one array, and there are {} outputs; write "
                                 "a .safetensors file or a folder",
                                 path.string(), outputs.size()));
    return checked(checkpoint::writeNpy(path, *outputs.front().tensor));
  }
  if (const auto made = checkpoint::createFolders(path); !made)
    return failure(fmt::format("{}: cannot be made a folder for the outputs: {}; choose another "
                               "place, or a name that ends in .safetensors or .npy",
                               path.string(), made.error().problem));
  std::map<std::string, std::string> written;
  for (const NamedOutput& output : outputs) {
    const std::string name = fileName(output.name);
    if (const auto [at, isNew] = written.emplace(name, output.name); !isNew)
      return failure(fmt::format("{}: the outputs \"{}\" and \"{}\" would both be {}; write a "
                                 ".safetensors file",
                                 path.string(), at->second, output.name, name));
    if (llvm::Error failed = checked(checkpoint::writeNpy(path / name, *output.tensor)))
      return failed;
  }
  return llvm::Error::success();
}

} // namespace octavo::session
