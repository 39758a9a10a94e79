#include "octavo/Checkpoint/Files/OutputFile.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/PageBuffer.h"
#include "octavo/Checkpoint/Files/TemporaryName.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace octavo::checkpoint {

/// Gives the file the mode, owner and group of `there`, as far as this user may. If the group
/// cannot be kept, the new group gets the permissions of others.
static void keepModeAndOwner(int descriptor, const struct stat& there) {
  struct stat made;
  if (::fstat(descriptor, &made) != 0)
    return;
  mode_t mode = there.st_mode & 0777;
  const bool isOwnerKept =
      made.st_uid == there.st_uid || ::fchown(descriptor, there.st_uid, -1) == 0;
  const bool isGroupKept =
      made.st_gid == there.st_gid || ::fchown(descriptor, -1, there.st_gid) == 0;
  if (isOwnerKept && isGroupKept)
    mode = there.st_mode & 07777;
  if (!isGroupKept)
    mode = (mode & ~S_IRWXG) | (mode & S_IRWXO) << 3;
  ::fchmod(descriptor, mode);
}

tl::expected<OutputFile, Error> OutputFile::create(const std::filesystem::path& path) {
  // Renaming over a device or a pipe would replace it for all users.
  struct stat there;
  const bool replaces = ::stat(path.c_str(), &there) == 0;
  if (replaces && !S_ISREG(there.st_mode))
    return tl::unexpected(Error{.file = path.string(),
                                .problem = S_ISDIR(there.st_mode)
                                               ? "cannot be written: it is a folder"
                                               : "cannot be written: it is not a regular file",
                                .fix = "name a file"});
  const std::filesystem::path folder = folderOf(path);
  int descriptor = -1;
  std::string temporary;
  KnownTemporary known;
  // Between creation and lock, another process may remove the file as one of an ended process; then
  // try again.
  for (bool isKept = false; !isKept;) {
    temporary = (folder / temporaryName()).string();
    known = KnownTemporary(temporary);
    // A replacement is private until it has the mode of the old file; a new file has the mode of
    // any new file of this user.
    descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                        replaces ? S_IRUSR | S_IWUSR : 0666);
    if (descriptor < 0) {
      const int code = errno;
      return tl::unexpected(
          Error{.file = path.string(),
                .problem = std::string("cannot be written: ") + std::strerror(code),
                .fix = code == ENOENT ? "create its folder first" : "choose another place"});
    }
    const bool isOthers = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat made;
    isKept = !isOthers && ::fstat(descriptor, &made) == 0 && made.st_nlink > 0;
    if (!isKept)
      ::close(descriptor);
  }
  if (replaces)
    keepModeAndOwner(descriptor, there);
  OutputFile file(path, std::move(temporary), std::move(known), descriptor);
  file.uncached = ::open(file.temporary.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      known(std::move(other.known)), descriptor(std::exchange(other.descriptor, -1)),
      uncached(std::exchange(other.uncached, -1)), waiting(other.waiting.load()),
      few(std::move(other.few)) {}

OutputFile::~OutputFile() {
  if (uncached >= 0)
    ::close(uncached);
  if (descriptor < 0)
    return;
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

tl::unexpected<Error> OutputFile::failure(const char* what, int code) const {
  return tl::unexpected(Error{.file = path.string(),
                              .problem = std::string(what) + ": " + std::strerror(code),
                              .fix = code == ENOSPC  ? "free some space and run again"
                                     : code == EFBIG ? "raise the limit on the size of files "
                                                       "(ulimit -f), or choose another place"
                                                     : "choose another place"});
}

tl::expected<void, Error> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return failure("cannot be written", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

tl::expected<void, Error> OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

tl::expected<void, Error> OutputFile::reserve(std::uint64_t length) {
  if (length == 0)
    return {};
  if (::fallocate(descriptor, 0, 0, static_cast<off_t>(length)) == 0)
    return {};
  if (errno != EOPNOTSUPP && errno != EINTR)
    return failure("its disk space cannot be reserved", errno);
  if (::ftruncate(descriptor, static_cast<off_t>(length)) != 0)
    return failure("cannot be extended to its full size", errno);
  return {};
}

/// Bytes written through the page cache after which write-back begins. Without it the disk would be
/// idle until the sync at the end.
static constexpr std::uint64_t kDiskBegins = std::uint64_t{32} << 20;

/// Least bytes of a direct write. Waiting for the disk costs more than a copy for fewer bytes.
static constexpr std::size_t kUncachedLeast = std::size_t{1} << 20;

/// Most bytes that are collected. Writes through the cache and writes past it wait for each other,
/// so runs of collected bytes shorter than kUncachedLeast go through the cache together.
static constexpr std::size_t kMostLater = std::size_t{8} << 20;

void OutputFile::beginDisk(std::uint64_t offset, std::uint64_t length) {
  ::sync_file_range(descriptor, static_cast<off64_t>(offset), static_cast<off64_t>(length),
                    SYNC_FILE_RANGE_WRITE); // advice: the sync in place() reports failures
}

tl::expected<void, Error> OutputFile::writeAt(std::uint64_t offset,
                                              std::span<const std::byte> bytes) {
  if (bytes.size() < kUncachedLeast)
    return writeLater(offset, bytes);
  return writePages(offset, bytes, &OutputFile::writeLater);
}

tl::expected<void, Error>
OutputFile::writePages(std::uint64_t offset, std::span<const std::byte> bytes, Writer writeEdge) {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::size_t head = (kPageBytes - offset % kPageBytes) % kPageBytes;
  if (uncached < 0 || (address - offset) % kPageBytes != 0)
    return writeCached(offset, bytes);
  const std::size_t whole = (bytes.size() - head) / kPageBytes * kPageBytes;
  return writeUncached(offset + head, bytes.subspan(head, whole)).and_then([&](std::size_t done) {
    return (this->*writeEdge)(offset, bytes.first(head)).and_then([&] {
      const auto rest = bytes.subspan(head + done);
      return rest.size() < kPageBytes ? (this->*writeEdge)(offset + head + done, rest)
                                      : writeCached(offset + head + done, rest);
    });
  });
}

tl::expected<void, Error> OutputFile::writeLater(std::uint64_t offset,
                                                 std::span<const std::byte> bytes) {
  if (bytes.empty())
    return {};
  Later full;
  {
    const std::lock_guard lock(few->mutex);
    Later& later = few->later;
    later.ranges.push_back({offset, later.bytes.size(), bytes.size()});
    later.bytes.insert(later.bytes.end(), bytes.begin(), bytes.end());
    if (later.bytes.size() < kMostLater)
      return {};
    std::swap(full, later);
  }
  return put(std::move(full));
}

tl::expected<void, Error> OutputFile::put(Later later) {
  std::ranges::sort(later.ranges, {}, &Later::Range::offset);
  PageBuffer buffer; // for a run of bytes that are adjacent in the file
  for (auto range = later.ranges.begin(); range != later.ranges.end();) {
    const auto begin = range;
    std::uint64_t end = begin->offset;
    for (; range != later.ranges.end() && range->offset == end; ++range)
      end += range->size;
    const std::span<std::byte> run = buffer.place(begin->offset, end - begin->offset);
    for (auto part = begin; part != range; ++part)
      std::memcpy(run.data() + (part->offset - begin->offset), later.bytes.data() + part->begin,
                  part->size);
    auto written = run.size() < kUncachedLeast
                       ? writeCached(begin->offset, run)
                       : writePages(begin->offset, run, &OutputFile::writeCached);
    if (!written)
      return written;
  }
  return {};
}

tl::expected<std::size_t, Error> OutputFile::writeUncached(std::uint64_t offset,
                                                           std::span<const std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::pwrite(uncached, bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(offset + done));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0 && errno != EINVAL)
      return failure("cannot be written", errno);
    if (written <= 0)
      break;
    done += static_cast<std::size_t>(written);
    if (done % kPageBytes != 0)
      break;
  }
  return done;
}

tl::expected<void, Error> OutputFile::writeCached(std::uint64_t offset,
                                                  std::span<const std::byte> bytes) {
  const std::uint64_t before = waiting.fetch_add(bytes.size());
  const bool isEnough = before / kDiskBegins != (before + bytes.size()) / kDiskBegins;
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return failure("cannot be written", errno);
    }
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (isEnough)
    beginDisk(0, 0); // to the end of the file
  return {};
}

tl::expected<bool, Error> OutputFile::copyInKernel(int source, std::uint64_t length) {
  off64_t in = 0, out = 0;
  while (length > 0) {
    const ssize_t copied = ::copy_file_range(source, &in, descriptor, &out,
                                             std::min<std::uint64_t>(length, kDiskBegins), 0);
    if (copied < 0 && errno == EINTR)
      continue;
    if (copied < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT || errno == EFBIG))
      return failure("cannot be written", errno);
    if (copied <= 0)
      return false;
    length -= static_cast<std::uint64_t>(copied);
    beginDisk(static_cast<std::uint64_t>(out - copied), static_cast<std::uint64_t>(copied));
  }
  return true;
}

tl::expected<void, Error> OutputFile::copyFrom(const InputFile& source) {
  const std::uint64_t length = source.size();
  auto done = reserve(length).and_then([&] { return copyInKernel(source.handle(), length); });
  if (!done)
    return tl::unexpected(std::move(done.error()));
  if (*done)
    return {};
  std::vector<std::byte> buffer(std::min<std::uint64_t>(length, std::uint64_t{1} << 20));
  for (std::uint64_t at = 0; at < length; at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(length - at, buffer.size()));
    auto copied = source.read(at, buffer).and_then([&] { return writeAt(at, buffer); });
    if (!copied)
      return copied;
  }
  return {};
}

tl::expected<void, Error> OutputFile::place() {
  if (auto written = put(std::exchange(few->later, {})); !written)
    return written;
  if (::fsync(descriptor) != 0)
    return failure("cannot be synced to disk", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return failure("cannot be renamed into place", errno);
  ::close(std::exchange(descriptor, -1));
  known = KnownTemporary(); // frees the slot in the table
  return {};
}

tl::expected<void, Error> OutputFile::commit() {
  return place().and_then([&] { return syncFolder(folderOf(path)); });
}

} // namespace octavo::checkpoint
