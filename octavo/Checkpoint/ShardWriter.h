// A safetensors shard written in any order of pieces: its header is settled first, each tensor's
// bytes are put where they belong, and the file appears under its name when it is whole.
#pragma once

#include "octavo/Checkpoint/Error.h"
#include "octavo/Checkpoint/Safetensors.h"

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

class ShardWriter {
public:
  /// Lays the tensors out as safetensors' own writer does (dtype descending, then name), reserves
  /// the disk space and writes the header. Errors: those of writeSafetensors; no space left.
  static tl::expected<ShardWriter, Error> create(const std::filesystem::path& path,
                                                 std::span<const PlannedTensor> tensors,
                                                 const SafetensorsMetadata& metadata = {});
  ShardWriter(ShardWriter&&) noexcept;
  ~ShardWriter(); ///< removes the temporary file unless commit has succeeded

  /// Puts bytes at `offset` of tensor `index` (of the list given to create). Any order, any thread.
  tl::expected<void, Error> write(std::size_t index, std::uint64_t offset,
                                  std::span<const std::byte> bytes);
  /// Asserts that every byte was written, syncs, renames, syncs the folder.
  tl::expected<void, Error> commit();

private:
  struct State;
  explicit ShardWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace octavo::checkpoint
