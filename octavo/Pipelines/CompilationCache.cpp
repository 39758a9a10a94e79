#include "octavo/Pipelines/CompilationCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::pipelines {

namespace {

namespace fs = std::filesystem;

/// LLVM's pruning looks at files of this name alone.
constexpr llvm::StringLiteral kPrefix = "llvmcache-";
/// An entry is the bytes and then the digest of its key and of them: what lies under another's name
/// is damaged, too.
constexpr std::size_t kDigest = 32;

bool isOwnersAlone(const fs::path& folder) {
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool writeAll(int file, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0)
      return false;
    bytes = bytes.drop_front(static_cast<std::size_t>(written));
  }
  return true;
}

} // namespace

std::string digestOf(std::initializer_list<llvm::StringRef> parts) {
  llvm::BLAKE3 hash;
  for (const llvm::StringRef part : parts)
    hash.update(part);
  return llvm::toHex(hash.final<kDigest / 2>(), true);
}

CompilationCache::CompilationCache(const fs::path& wanted) {
  if (wanted.empty())
    return;
  std::error_code failed;
  fs::create_directories(wanted, failed);
  if (!failed && isOwnersAlone(wanted))
    folder = wanted;
}

CompilationCache CompilationCache::ofUser() {
  if (const char* given = std::getenv("OCTAVO_CACHE_DIR"))
    return CompilationCache(given);
  const char* caches = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (caches != nullptr && *caches != '\0')
    return CompilationCache(fs::path(caches) / "octavo" / "compiled");
  if (home != nullptr && *home != '\0')
    return CompilationCache(fs::path(home) / ".cache" / "octavo" / "compiled");
  return CompilationCache({});
}

std::unique_ptr<llvm::MemoryBuffer> CompilationCache::find(const std::string& key) const {
  if (folder.empty())
    return nullptr;
  const fs::path path = folder / (kPrefix.str() + key);
  auto file = llvm::MemoryBuffer::getFile(path.string(), false, false);
  if (!file || (*file)->getBufferSize() < kDigest)
    return nullptr;
  const llvm::StringRef all = (*file)->getBuffer();
  const llvm::StringRef bytes = all.drop_back(kDigest);
  if (digestOf({key, bytes}) != all.take_back(kDigest))
    return nullptr;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // was asked for
  return llvm::MemoryBuffer::getMemBufferCopy(bytes, key);
}

void CompilationCache::keep(const std::string& key, llvm::StringRef bytes) const {
  if (folder.empty())
    return;
  std::string name = (folder / (kPrefix.str() + "new-XXXXXX")).string();
  const int file = ::mkstemp(name.data());
  if (file < 0)
    return;
  const bool isWritten = writeAll(file, bytes) && writeAll(file, digestOf({key, bytes}));
  ::close(file);
  const fs::path path = folder / (kPrefix.str() + key);
  if (!isWritten || ::rename(name.c_str(), path.c_str()) != 0) {
    ::unlink(name.c_str());
    return;
  }
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::minutes(1);
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = std::uint64_t{64} << 20;
  llvm::pruneCache(folder.string(), policy);
}

} // namespace octavo::pipelines
