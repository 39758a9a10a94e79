// Fuzzes SafetensorsFile: arbitrary bytes give an error, or a file whose entries are found by name,
// lie within the file, and have the size of their shape.

#include "octavo/Checkpoint/Files/Safetensors.h"

#include <cstdlib>

using namespace octavo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file =
      checkpoint::SafetensorsFile::open(checkpoint::InputFile::ofMemory(bytes, "fuzz"));
  if (!file) {
    if (file.error().message().size() < 10)
      std::abort();
    return 0;
  }
  std::uint64_t total = 0;
  for (const checkpoint::SafetensorsEntry& entry : file->entries()) {
    total += file->bytes(entry)->size();
    if (file->find(entry.name) != &entry)
      std::abort();
    const auto tensor = file->read(entry);
    if (tensor &&
        tensor->bytes.size() != static_cast<std::uint64_t>(tensor->size()) * tensor->type.bytes())
      std::abort();
  }
  if (total > size)
    std::abort();
  return 0;
}
