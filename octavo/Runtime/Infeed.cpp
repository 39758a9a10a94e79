#include "octavo/Runtime/Infeed.h"

#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Runtime/Failure.h"

#include "llvm/ADT/StringExtras.h"

namespace octavo::runtime {

llvm::Expected<execution::Feed> readFeed(const std::string& paths) {
  execution::Feed feed;
  for (llvm::StringRef path : llvm::split(paths, ',')) {
    auto tensor = checkpoint::readNpy(path.str());
    if (!tensor)
      return failure(tensor.error().message());
    feed.emplace_back(std::move(*tensor));
  }
  return feed;
}

} // namespace octavo::runtime
