// A file that appears whole or not at all: written beside its place, synced, renamed.
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

class OutputFile {
public:
  /// Creates a temporary file in the folder of `path`, which is locked as long as this process has
  /// it open. A file that takes another's place has its mode, and its owner and group as far as
  /// this user may give them; a new one has those of any new file. Errors: what is there is no
  /// regular file, or a link to none; the file system's. A link to a regular file is replaced.
  static tl::expected<OutputFile, Error> create(const std::filesystem::path& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the temporary file unless it has been placed.
  ~OutputFile();

  tl::expected<void, Error> write(std::span<const std::byte> bytes);
  tl::expected<void, Error> write(std::string_view text);

  /// Makes the file `length` bytes long and takes the disk space at once where the file system can,
  /// so that a full disk is known before the work is done.
  tl::expected<void, Error> reserve(std::uint64_t length);
  /// Puts bytes at `offset`. Any thread. Those of a PageBuffer's place go from there to the disk,
  /// which is waited for, past the system's cache: that costs no copy and no pages, and leaves the
  /// cache to files that are read again. Where the file system cannot, and all others, through it;
  /// a few bytes wait for others. Errors may be of bytes put before.
  tl::expected<void, Error> writeAt(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Puts all bytes of `source` at the beginning, inside the kernel where that can. Errors: those
  /// of both files.
  tl::expected<void, Error> copyFrom(const InputFile& source);

  /// The name that it is given, in the same folder, where that depends on what was written. The
  /// mode is of the file that it was created for.
  void rename(std::filesystem::path other) { path = std::move(other); }

  /// Syncs what was written and gives it the name it was asked for. A file of that name is
  /// replaced. After a loss of power it may be there again, until the folder is synced
  /// (DurableFolder.h).
  tl::expected<void, Error> place();
  /// The same, and syncs the folder.
  tl::expected<void, Error> commit();

private:
  /// Bytes that are put together with others.
  struct Later {
    struct Range {
      std::uint64_t offset;
      std::size_t begin, size; ///< of `bytes`
    };
    std::vector<std::byte> bytes;
    std::vector<Range> ranges;
  };
  struct GuardedLater { // one that can be moved with the file
    std::mutex mutex;
    Later later;
  };

  OutputFile(std::filesystem::path path, std::string temporary, KnownTemporary known,
             int descriptor)
      : path(std::move(path)), temporary(std::move(temporary)), known(std::move(known)),
        descriptor(descriptor) {}
  using Writer = tl::expected<void, Error> (OutputFile::*)(std::uint64_t offset,
                                                           std::span<const std::byte> bytes);
  /// Whole pages go past the cache where they can, what is left at both ends by `writeEdge`.
  tl::expected<void, Error> writePages(std::uint64_t offset, std::span<const std::byte> bytes,
                                       Writer writeEdge);
  tl::expected<void, Error> writeCached(std::uint64_t offset, std::span<const std::byte> bytes);
  tl::expected<void, Error> writeLater(std::uint64_t offset, std::span<const std::byte> bytes);
  tl::expected<void, Error> put(Later later);
  /// How many of the bytes, whole pages, are on the disk; the others have to go through the cache.
  tl::expected<std::size_t, Error> writeUncached(std::uint64_t offset,
                                                 std::span<const std::byte> bytes) const;
  /// Inside the kernel. False where the system cannot (other file systems, old kernels); nothing
  /// that was written counts then.
  tl::expected<bool, Error> copyInKernel(int source, std::uint64_t length);
  void beginDisk(std::uint64_t offset, std::uint64_t length);
  tl::unexpected<Error> failure(const char* what, int code) const;

  std::filesystem::path path;
  std::string temporary;
  KnownTemporary known;
  int descriptor;
  int uncached = -1;                     ///< of the same file, past the cache; -1: it cannot
  std::atomic<std::uint64_t> waiting{0}; ///< bytes put by writeCached
  std::unique_ptr<GuardedLater> few = std::make_unique<GuardedLater>();
};

} // namespace octavo::checkpoint
