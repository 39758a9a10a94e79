// Fuzzes readNpy: arbitrary bytes give an error, or a tensor with the size of its shape.

#include "octavo/Checkpoint/Files/Npy.h"

#include <cstdlib>

using namespace octavo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto tensor = checkpoint::readNpy(checkpoint::InputFile::ofMemory(bytes, "fuzz"));
  if (!tensor) {
    if (tensor.error().message().size() < 10)
      std::abort();
    return 0;
  }
  if (tensor->bytes.size() != static_cast<std::uint64_t>(tensor->size()) * tensor->type.bytes())
    std::abort();
  return 0;
}
