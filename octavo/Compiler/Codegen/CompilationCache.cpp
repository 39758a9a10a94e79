#include "octavo/Compiler/Codegen/CompilationCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace octavo::compiler {

namespace {

namespace fs = std::filesystem;

/// LLVM's pruning considers only files with this prefix.
constexpr llvm::StringLiteral kPrefix = "llvmcache-";
/// An entry is its bytes, then the digest of its key and bytes: an entry under another key's name
/// counts as damaged.
constexpr std::size_t kDigest = 32;

using Descriptor = std::shared_ptr<const int>;

/// Null if `descriptor` is negative, that is, was not opened.
Descriptor held(int descriptor) {
  if (descriptor < 0)
    return nullptr;
  return Descriptor(new int(descriptor), [](const int* open) {
    ::close(*open);
    delete open;
  });
}

bool isOthersToWrite(const struct stat& status) {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/// Creates a folder and its missing parents for this user alone, whatever the umask.
void makeFolders(const fs::path& folder) {
  fs::path made;
  for (const fs::path& part : folder) {
    made /= part;
    ::mkdir(made.c_str(), S_IRWXU);
  }
}

/// The path to the nearest folder above that everybody may write to without a sticky bit, so that
/// others may exchange what is in it; empty if there is none.
std::string openAbove(const Descriptor& folder) {
  std::string up = "..";
  Descriptor below = folder;
  for (;; up += "/..") {
    const Descriptor above = held(::openat(*below, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat status{}, ofBelow{};
    if (!above || ::fstat(*above, &status) != 0 || ::fstat(*below, &ofBelow) != 0 ||
        (status.st_dev == ofBelow.st_dev && status.st_ino == ofBelow.st_ino))
      return "";
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
      return up;
    below = above;
  }
}

/// Removes entries that others may have written.
void emptyFolder(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (auto entry = fs::directory_iterator(folder, ignored);
       !ignored && entry != fs::directory_iterator(); entry.increment(ignored))
    if (llvm::StringRef(entry->path().filename().native()).starts_with(kPrefix))
      found.push_back(entry->path());
  for (const fs::path& each : found)
    fs::remove(each, ignored);
}

/// A path to an open folder, for functions that take paths.
std::string pathOf(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

bool writeAll(int file, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
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

CompilationCache::CompilationCache(const fs::path& wanted, Place place) {
  if (wanted.empty())
    return;
  makeFolders(wanted);
  Descriptor opened = held(::open(wanted.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  if (!opened || ::fstat(*opened, &status) != 0)
    return;
  std::string why;
  if (status.st_uid != ::geteuid()) {
    why = "it is another user's: chown it";
  } else if (isOthersToWrite(status)) {
    if (place == Place::Default && ::fchmod(*opened, S_IRWXU) == 0)
      emptyFolder(pathOf(*opened));
    else
      why = "others may write to it: chmod go-w " + wanted.string();
  }
  if (const std::string above = openAbove(opened); why.empty() && !above.empty()) {
    std::error_code unknown;
    const std::string whole = fs::weakly_canonical(wanted / above, unknown).string();
    why = "everybody may write to " + whole + ": chmod o-w " + whole;
  }
  if (why.empty())
    folder = std::move(opened);
  else
    whyRefused = "the cache of compiled code, " + wanted.string() +
                 ", is not used, since what lies there is run and " + why +
                 ", or name a folder of your own in OCTAVO_CACHE_DIR (empty: no cache)";
}

CompilationCache CompilationCache::ofUser() {
  if (const char* given = std::getenv("OCTAVO_CACHE_DIR"))
    return CompilationCache(given);
  const char* caches = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (caches != nullptr && *caches != '\0')
    return CompilationCache(fs::path(caches) / "octavo" / "compiled", Place::Default);
  if (home != nullptr && *home != '\0')
    return CompilationCache(fs::path(home) / ".cache" / "octavo" / "compiled", Place::Default);
  return CompilationCache({});
}

std::unique_ptr<llvm::MemoryBuffer> CompilationCache::find(const std::string& key) const {
  if (!folder)
    return nullptr;
  const Descriptor opened = held(::openat(*folder, (kPrefix + key).str().c_str(),
                                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!opened || ::fstat(*opened, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || isOthersToWrite(status))
    return nullptr;
  auto file = llvm::MemoryBuffer::getOpenFile(*opened, key, static_cast<std::uint64_t>(-1), false);
  if (!file || (*file)->getBufferSize() < kDigest)
    return nullptr;
  const llvm::StringRef all = (*file)->getBuffer();
  const llvm::StringRef bytes = all.drop_back(kDigest);
  if (digestOf({key, bytes}) != all.take_back(kDigest))
    return nullptr;
  ::futimens(*opened, nullptr); // marks it as recently used
  return llvm::MemoryBuffer::getMemBufferCopy(bytes, key);
}

void CompilationCache::keep(const std::string& key, llvm::StringRef bytes) const {
  if (!folder)
    return;
  std::random_device random; // seeded by the system
  std::string name = kPrefix.str() + "new-";
  for (int i = 0; i < 4; ++i)
    name += llvm::utohexstr(random(), true, 8);
  const Descriptor file = held(
      ::openat(*folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file)
    return;
  const bool isWritten = writeAll(*file, bytes) && writeAll(*file, digestOf({key, bytes}));
  if (!isWritten ||
      ::renameat(*folder, name.c_str(), *folder, (kPrefix + key).str().c_str()) != 0) {
    ::unlinkat(*folder, name.c_str(), 0);
    return;
  }
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::minutes(1);
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = std::uint64_t{64} << 20;
  llvm::pruneCache(pathOf(*folder), policy);
}

} // namespace octavo::compiler
