// safetensors files: a checked reader over a mapped file, and a writer that leaves a whole file or
// none. The format: 8 bytes of header length N, little-endian; N bytes of JSON; the tensors' bytes.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/MappedFile.h"
#include "octavo/Checkpoint/Files/SafetensorsDtype.h"
#include "octavo/Numerics/Tensor.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

/// The longest header that the format allows, in bytes.
inline constexpr std::uint64_t kSafetensorsMaxHeader = 100'000'000;

/// Strings that a file carries along, in the file's order.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

/// One tensor's entry. `begin` and `end` count from the first byte after the header.
struct SafetensorsEntry {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape; ///< logical elements, also where a byte holds two
  std::uint64_t begin;
  std::uint64_t end;
};

/// A file whose header has passed every rule: dtypes and keys known, no name twice, offsets that
/// cover the data without hole or overlap and agree with shape and dtype, and the exact length.
class SafetensorsFile {
public:
  static tl::expected<SafetensorsFile, Error> open(const std::filesystem::path& path);
  /// The same over bytes in memory, which must outlive the result; `name` stands for the file.
  static tl::expected<SafetensorsFile, Error> parse(std::span<const std::byte> bytes,
                                                    std::string name);

  /// In the order of their bytes.
  std::span<const SafetensorsEntry> entries() const { return index; }
  const SafetensorsEntry* find(std::string_view name) const;
  const SafetensorsMetadata& metadata() const { return strings; }
  const std::string& name() const { return file; }

  /// The bytes of a tensor as they lie in the file (sub-byte codes packed).
  std::span<const std::byte> bytes(const SafetensorsEntry& entry) const {
    const std::uint64_t size = entry.end - entry.begin;
    constexpr std::uint64_t kPage = 4096;
    return (size < kPage ? scattered : data).subspan(entry.begin, size);
  }
  /// Copies a piece of what bytes() gave, without touching it there: see MappedFile::read. Errors:
  /// the file system's; a file that has become shorter.
  tl::expected<void, Error> fetch(std::span<const std::byte> piece, std::byte* to) const;
  /// See MappedFile; true of bytes that were in memory to begin with.
  bool isUnchanged() const { return !mapping || mapping->isUnchanged(); }
  /// Lets go of the memory of a tensor's bytes, which can still be read. Nothing for bytes that
  /// were in memory to begin with.
  void release(const SafetensorsEntry& entry) const { release(bytes(entry)); }
  /// The same for a piece of what bytes() gave.
  void release(std::span<const std::byte> piece) const {
    if (mapping)
      mapping->release(piece);
  }
  /// The tensor, copied out, one code a container. Errors: a dtype that octavo has no tensor of; a
  /// byte of a BOOL that is neither 0 nor 1.
  tl::expected<numerics::Tensor, Error> read(const SafetensorsEntry& entry) const;

private:
  std::string file;
  std::optional<MappedFile> mapping;
  std::span<const std::byte> data;      ///< after the header
  std::span<const std::byte> scattered; ///< the same: see MappedFile::scatteredBytes
  std::uint64_t headerEnd = 0;          ///< where in the file the bytes of the tensors begin
  std::vector<SafetensorsEntry> index;
  SafetensorsMetadata strings;
};

struct NamedTensor {
  std::string name;
  const numerics::Tensor* tensor;
};

/// Writes tensors in the order that safetensors' own writer has: dtype, descending in its
/// enumeration, then name. Errors: a name twice or "__metadata__", a name that is not UTF-8, an
/// element type without a dtype, sub-byte codes that do not fill whole bytes, the file system.
tl::expected<void, Error> writeSafetensors(const std::filesystem::path& path,
                                           std::span<const NamedTensor> tensors,
                                           const SafetensorsMetadata& metadata = {});

} // namespace octavo::checkpoint
