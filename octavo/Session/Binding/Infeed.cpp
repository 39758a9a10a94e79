#include "octavo/Session/Binding/Infeed.h"

#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Session/Binding/Failure.h"

#include "llvm/ADT/StringExtras.h"

namespace octavo::session {

llvm::Expected<program::Feed> readFeed(const std::string& paths) {
  program::Feed feed;
  for (llvm::StringRef path : llvm::split(paths, ',')) {
    auto tensor = checkpoint::readNpy(path.str());
    if (!tensor)
      return failure(tensor.error().message());
    feed.emplace_back(std::move(*tensor));
  }
  return feed;
}

} // namespace octavo::session
