// A safetensors shard written in any order of pieces: its header is settled first, each tensor's
// bytes are put where they belong, and the file appears under its name when it is whole.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/PageBuffer.h"
#include "octavo/Checkpoint/Files/Safetensors.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

struct PlannedTensor {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape; ///< as the header says it (logical elements)
};

/// Bytes that a tensor of that dtype and shape takes in a file, whose header has been checked or
/// whose sizes are known to be of this machine.
std::uint64_t storedBytes(const SafetensorsDtype& dtype, std::span<const std::int64_t> shape);

/// The first bytes of the file that holds such tensors, up to the tensors' own, and where each
/// tensor begins after them. Errors: a name twice or "__metadata__", a name that is not UTF-8,
/// sub-byte codes that do not fill whole bytes, a header that is too long.
struct ShardHeader {
  std::string bytes;                 ///< length and JSON
  std::vector<std::uint64_t> begins; ///< in the order of the tensors given
  std::uint64_t dataLength;
};
tl::expected<ShardHeader, Error> shardHeader(const std::string& file,
                                             std::span<const PlannedTensor> tensors,
                                             const SafetensorsMetadata& metadata = {});

class ShardWriter {
public:
  /// Lays the tensors out as safetensors' own writer does (dtype descending, then name), reserves
  /// the disk space and writes the header. Errors: those of writeSafetensors; no space left.
  static tl::expected<ShardWriter, Error> create(const std::filesystem::path& path,
                                                 std::span<const PlannedTensor> tensors,
                                                 const SafetensorsMetadata& metadata = {});
  ShardWriter(ShardWriter&&) noexcept;
  ~ShardWriter(); ///< removes the temporary file unless it has been placed

  /// Where in the file byte `offset` of tensor `index` (of the list given to create) lies.
  std::uint64_t position(std::size_t index, std::uint64_t offset) const;
  /// Puts bytes there; see OutputFile::writeAt. Any order, any thread.
  tl::expected<void, Error> write(std::size_t index, std::uint64_t offset,
                                  std::span<const std::byte> bytes);
  /// Puts all bytes of an entry of `source` there, whose dtype and shape are those of the plan, by
  /// way of `buffer`, kCopyPiece of them at a time. The system's own copying from file to file goes
  /// through its cache, and takes twice the time.
  tl::expected<void, Error> copy(std::size_t index, const SafetensorsFile& source,
                                 const SafetensorsEntry& entry, PageBuffer& buffer);
  static constexpr std::size_t kCopyPiece = std::size_t{4} << 20;
  /// Precondition of both: every byte was written. See OutputFile.
  tl::expected<void, Error> place();
  tl::expected<void, Error> commit();

private:
  struct State;
  explicit ShardWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace octavo::checkpoint
