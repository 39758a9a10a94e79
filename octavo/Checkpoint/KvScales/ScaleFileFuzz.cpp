// Fuzzes the readers of scale files: arbitrary bytes of either form give an error, or usable
// scales.

#include "octavo/Checkpoint/KvScales/ScaleFile.h"

#include <cmath>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace octavo::checkpoint;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

bool isUsable(float scale) { return std::isfinite(scale) && scale > 0; }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A file in memory, because the readers take a path.
  static const int file = ::memfd_create("scales", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(::ftruncate(file, static_cast<off_t>(size)) == 0);
  require(::pwrite(file, data, size, 0) == static_cast<ssize_t>(size));

  if (const auto scales = readScaleFile(path)) {
    for (const StoredScale& scale : *scales) {
      std::uint64_t count = 1;
      for (const std::int64_t extent : scale.shape)
        count *= static_cast<std::uint64_t>(extent);
      require(scale.bytes.size() == count * scale.dtype->bits / 8);
      const std::vector<float> values = scale.values();
      require(values.empty() ? scale.dtype->name == "U8" : values.size() == count);
      for (const float value : values)
        require(isUsable(value));
    }
  } else {
    require(scales.error().message().size() >= 10);
  }
  if (const auto json = readKvScaleJson(path, "llama")) {
    require(json->modelType.empty() || json->modelType == "llama");
    require(!json->layers.empty());
    for (const float value : json->layers)
      require(isUsable(value));
  } else {
    require(json.error().message().size() >= 10);
  }
  return 0;
}
