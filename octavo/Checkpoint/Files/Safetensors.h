// safetensors files: a checked reader that reads in pieces, and an atomic writer. The format: 8
// bytes of header length N, little-endian; N bytes of JSON; the bytes of the tensors.
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

/// The strings of "__metadata__", in file order.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

/// The entry of one tensor in the header.
struct SafetensorsEntry {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape; ///< logical elements, also if a byte holds two
  std::uint64_t begin;             ///< in bytes, from the first byte after the header
  std::uint64_t end;

  std::uint64_t size() const { return end - begin; } ///< in bytes, sub-byte codes packed
};

/// An open file whose header was checked:
///  - dtypes and keys are known, and no name occurs twice;
///  - offsets cover the data without hole or overlap, and match shapes and dtypes;
///  - the file has the exact length.
class SafetensorsFile {
public:
  /// Opens and checks a file. Errors: a fault of the header; the file system.
  static tl::expected<SafetensorsFile, Error> open(const std::filesystem::path& path);
  /// Checks an open file. Errors: a fault of the header; reading the file.
  static tl::expected<SafetensorsFile, Error> open(InputFile file);

  /// All tensors, by offset.
  std::span<const SafetensorsEntry> entries() const { return index; }
  /// The tensor of that name; null if there is none.
  const SafetensorsEntry* find(std::string_view name) const;
  const SafetensorsMetadata& metadata() const { return strings; }
  const std::string& name() const { return input.name(); }

  /// Copies to.size() stored bytes of a tensor (sub-byte codes packed) from its byte `offset` on.
  /// Callable from any thread. Errors: see InputFile::read.
  tl::expected<void, Error> fetch(const SafetensorsEntry& entry, std::uint64_t offset,
                                  std::span<std::byte> to) const;
  /// All stored bytes of a tensor.
  tl::expected<std::vector<std::byte>, Error> bytes(const SafetensorsEntry& entry) const;
  /// The tensor in memory, each code in its own container. Errors: a dtype that octavo has no
  /// element type for; a byte of a BOOL that is neither 0 nor 1; those of fetch.
  tl::expected<numerics::Tensor, Error> read(const SafetensorsEntry& entry) const;
  /// See InputFile::isUnchanged.
  bool isUnchanged() const { return input.isUnchanged(); }

private:
  explicit SafetensorsFile(InputFile file) : input(std::move(file)) {}
  InputFile input;
  std::uint64_t headerEnd = 0; ///< offset in the file of the first byte after the header
  std::vector<SafetensorsEntry> index;
  SafetensorsMetadata strings;
};

/// A tensor to be written, and its name.
struct NamedTensor {
  std::string name;
  const numerics::Tensor* tensor;
};

/// Writes a file with the tensors in the order of safetensors' own writer: by dtype, descending in
/// the enumeration, then by name. Errors: a name twice or "__metadata__"; a name that is not UTF-8;
/// an element type without a dtype; sub-byte codes that do not fill whole bytes; the file system.
tl::expected<void, Error> writeSafetensors(const std::filesystem::path& path,
                                           std::span<const NamedTensor> tensors,
                                           const SafetensorsMetadata& metadata = {});

} // namespace octavo::checkpoint
