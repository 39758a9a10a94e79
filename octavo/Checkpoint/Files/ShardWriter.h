// Writes a safetensors shard in any order of pieces: the header is fixed first, pieces of tensors
// go to their offsets, and the file gets its name when it is complete.
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

/// A tensor that a file will have.
struct PlannedTensor {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape; ///< as in the header: logical elements
};

/// Bytes that a tensor occupies in a file. Precondition: the product of the extents does not
/// overflow, as in a checked header.
std::uint64_t storedBytes(const SafetensorsDtype& dtype, std::span<const std::int64_t> shape);

/// The bytes of a file before its tensors, and the offset of each tensor after them. Errors of
/// shardHeader: a name twice or "__metadata__"; a name that is not UTF-8; sub-byte codes that do
/// not fill whole bytes; a header longer than the format allows.
struct ShardHeader {
  std::string bytes;                 ///< header length and JSON
  std::vector<std::uint64_t> begins; ///< offset of each given tensor, from the end of the header
  std::uint64_t dataLength;          ///< bytes of all tensors
};
tl::expected<ShardHeader, Error> shardHeader(const std::string& file,
                                             std::span<const PlannedTensor> tensors,
                                             const SafetensorsMetadata& metadata = {});

/// A shard being written. The temporary file is removed unless it is placed.
class ShardWriter {
public:
  /// Orders the tensors as safetensors' own writer does (dtype descending, then name), reserves the
  /// disk space and writes the header. Errors: those of shardHeader; the file system; no space
  /// left.
  static tl::expected<ShardWriter, Error> create(const std::filesystem::path& path,
                                                 std::span<const PlannedTensor> tensors,
                                                 const SafetensorsMetadata& metadata = {});
  ShardWriter(ShardWriter&&) noexcept;
  ~ShardWriter(); ///< removes the temporary file unless it has been placed

  /// The offset in the file of byte `offset` of tensor `index` (its index in the list given to
  /// create).
  std::uint64_t position(std::size_t index, std::uint64_t offset) const;
  /// Writes bytes of a tensor; see OutputFile::writeAt. In any order, from any thread. Errors:
  /// bytes beyond the tensor's end; those of writeAt.
  tl::expected<void, Error> write(std::size_t index, std::uint64_t offset,
                                  std::span<const std::byte> bytes);
  /// Copies all bytes of `entry` of `source`, which has the planned dtype and shape, through
  /// `buffer`, kCopyPiece bytes at a time. copy_file_range is not used: it goes through the page
  /// cache and takes twice the time.
  tl::expected<void, Error> copy(std::size_t index, const SafetensorsFile& source,
                                 const SafetensorsEntry& entry, PageBuffer& buffer);
  static constexpr std::size_t kCopyPiece = std::size_t{4} << 20; ///< bytes
  /// See OutputFile. Error of both: not every byte was written.
  tl::expected<void, Error> place();
  tl::expected<void, Error> commit();

private:
  struct State;
  explicit ShardWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace octavo::checkpoint
