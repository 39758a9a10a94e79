// safetensors files: a checked reader of a file in pieces, and a writer that leaves a whole file or
// none. The format: 8 bytes of header length N, little-endian; N bytes of JSON; the tensors' bytes.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/InputFile.h"
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

  std::uint64_t size() const { return end - begin; } ///< in bytes, sub-byte codes packed
};

/// A file whose header has passed every rule: dtypes and keys known, no name twice, offsets that
/// cover the data without hole or overlap and agree with shape and dtype, and the exact length.
class SafetensorsFile {
public:
  /// Errors: what is wrong with the header; the file system's.
  static tl::expected<SafetensorsFile, Error> open(const std::filesystem::path& path);
  static tl::expected<SafetensorsFile, Error> open(InputFile file);

  /// In the order of their bytes.
  std::span<const SafetensorsEntry> entries() const { return index; }
  const SafetensorsEntry* find(std::string_view name) const;
  const SafetensorsMetadata& metadata() const { return strings; }
  const std::string& name() const { return input.name(); }

  /// Copies bytes of a tensor, as they lie in the file (sub-byte codes packed), from byte `offset`
  /// of it on. Any thread. Errors: see InputFile::read.
  tl::expected<void, Error> fetch(const SafetensorsEntry& entry, std::uint64_t offset,
                                  std::span<std::byte> to) const;
  /// All of them.
  tl::expected<std::vector<std::byte>, Error> bytes(const SafetensorsEntry& entry) const;
  /// The tensor, one code a container. Errors: a dtype that octavo has no tensor of; a byte of a
  /// BOOL that is neither 0 nor 1; those of fetch.
  tl::expected<numerics::Tensor, Error> read(const SafetensorsEntry& entry) const;
  /// See InputFile.
  bool isUnchanged() const { return input.isUnchanged(); }

private:
  explicit SafetensorsFile(InputFile file) : input(std::move(file)) {}
  InputFile input;
  std::uint64_t headerEnd = 0; ///< where in the file the bytes of the tensors begin
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
