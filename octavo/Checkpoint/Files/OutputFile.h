// A file that appears whole or not at all: it is written under a temporary name in the same folder,
// synced, and renamed.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/InputFile.h"
#include "octavo/Checkpoint/Files/KnownTemporaries.h"

#include <tl/expected.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// A file being written. Linux only: uses flock, O_DIRECT, fallocate and copy_file_range.
class OutputFile {
public:
  /// Creates a temporary file in the folder of `path` and holds it locked while it is open. If
  /// `path` exists, the new file gets its mode, and its owner and group as far as this user may set
  /// them; else those of any new file. A link to a regular file is replaced. Errors: `path` is
  /// neither a regular file nor a link to one; the file system.
  static tl::expected<OutputFile, Error> create(const std::filesystem::path& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the temporary file unless it has been placed.
  ~OutputFile();

  /// Appends bytes. Errors: the file system.
  tl::expected<void, Error> write(std::span<const std::byte> bytes);
  /// Appends text. Errors: the file system.
  tl::expected<void, Error> write(std::string_view text);

  /// Makes the file `length` bytes long. Allocates the disk space at once if the file system
  /// supports it, so that a full disk is reported before the work is done.
  tl::expected<void, Error> reserve(std::uint64_t length);
  /// Writes bytes at `offset`. Callable from any thread. Errors may concern bytes of earlier calls.
  /// How the bytes are written:
  ///  - Bytes in a PageBuffer placed for this offset go straight to the disk (O_DIRECT), and the
  ///    call waits for the disk. This costs no copy and leaves the page cache to files that are
  ///    read again.
  ///  - If the file system does not support that, and for other memory, bytes go through the page
  ///    cache.
  ///  - Fewer than 1 MiB are collected and written later together.
  tl::expected<void, Error> writeAt(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Copies all bytes of `source` to the beginning of the file, inside the kernel if it can.
  /// Errors: of both files.
  tl::expected<void, Error> copyFrom(const InputFile& source);

  /// Changes the final name, within the same folder, if the name depends on what was written. The
  /// mode stays that of the file given to create.
  void rename(std::filesystem::path other) { path = std::move(other); }

  /// Syncs the bytes and renames the file to its final name; an existing file is replaced. Until
  /// the folder is synced (DurableFolder.h), a loss of power may bring back the old file.
  tl::expected<void, Error> place();
  /// place(), then syncs the folder.
  tl::expected<void, Error> commit();

private:
  /// Small writes that are collected to be written together.
  struct Later {
    struct Range {
      std::uint64_t offset;
      std::size_t begin, size; ///< position in `bytes`
    };
    std::vector<std::byte> bytes;
    std::vector<Range> ranges;
  };
  struct GuardedLater { // on the heap, because a mutex cannot move with the file
    std::mutex mutex;
    Later later;
  };

  OutputFile(std::filesystem::path path, std::string temporary, KnownTemporary known,
             int descriptor)
      : path(std::move(path)), temporary(std::move(temporary)), known(std::move(known)),
        descriptor(descriptor) {}
  using Writer = tl::expected<void, Error> (OutputFile::*)(std::uint64_t offset,
                                                           std::span<const std::byte> bytes);
  /// Writes whole pages past the page cache if possible, and the bytes before and after them with
  /// `writeEdge`.
  tl::expected<void, Error> writePages(std::uint64_t offset, std::span<const std::byte> bytes,
                                       Writer writeEdge);
  /// Writes through the page cache.
  tl::expected<void, Error> writeCached(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Collects bytes, and writes all collected bytes once there are enough.
  tl::expected<void, Error> writeLater(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Writes collected bytes, joining those that are adjacent in the file.
  tl::expected<void, Error> put(Later later);
  /// Writes whole pages past the page cache. Returns how many bytes are written; the others must go
  /// through the cache.
  tl::expected<std::size_t, Error> writeUncached(std::uint64_t offset,
                                                 std::span<const std::byte> bytes) const;
  /// Copies inside the kernel. False if the system cannot (other file systems, old kernels); then
  /// the whole copy must be repeated.
  tl::expected<bool, Error> copyInKernel(int source, std::uint64_t length);
  /// Starts writing a range of the page cache to the disk; length 0: up to the end of the file.
  void beginDisk(std::uint64_t offset, std::uint64_t length);
  tl::unexpected<Error> failure(const char* what, int code) const;

  /// The final name.
  std::filesystem::path path;
  std::string temporary; ///< the path while the file is written
  KnownTemporary known;
  int descriptor;
  int uncached = -1; ///< descriptor of the same file with O_DIRECT; -1: not supported
  std::atomic<std::uint64_t> waiting{0}; ///< bytes written by writeCached so far
  std::unique_ptr<GuardedLater> few = std::make_unique<GuardedLater>(); ///< collected writes
};

} // namespace octavo::checkpoint
