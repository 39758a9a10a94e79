#include "octavo/Checkpoint/Files/Safetensors.h"

#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Checkpoint/Files/PackedCodes.h"
#include "octavo/Checkpoint/Files/SafetensorsHeader.h"
#include "octavo/Checkpoint/Files/ShardWriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace octavo::checkpoint {

/// Bytes of the header length at the start of the file.
static constexpr std::size_t kLengthBytes = 8;

tl::expected<SafetensorsFile, Error> SafetensorsFile::open(const std::filesystem::path& path) {
  return InputFile::open(path).and_then([](InputFile file) { return open(std::move(file)); });
}

tl::expected<SafetensorsFile, Error> SafetensorsFile::open(InputFile input) {
  const auto refuse = [&](std::string problem, std::string expected, std::string found,
                          std::string fix) {
    return tl::unexpected(Error{.file = input.name(),
                                .problem = std::move(problem),
                                .offset = 0,
                                .expected = std::move(expected),
                                .found = std::move(found),
                                .fix = std::move(fix)});
  };
  if (input.size() < kLengthBytes)
    return refuse("too short for a safetensors file", "8 bytes of header length or more",
                  fmt::format("{} bytes", input.size()), "copy or download it again");
  std::array<std::byte, kLengthBytes> lengthBytes;
  if (auto done = input.read(0, lengthBytes); !done)
    return tl::unexpected(std::move(done.error()));
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(lengthBytes[i]);
  if (length > kSafetensorsMaxHeader)
    return refuse("the header length is beyond what the format allows",
                  fmt::format("at most {}", kSafetensorsMaxHeader), fmt::format("{}", length),
                  "the file is damaged or not safetensors");
  const std::uint64_t rest = input.size() - kLengthBytes;
  if (length > rest)
    return refuse("the header length is beyond the end of the file",
                  fmt::format("at most {}", rest), fmt::format("{}", length),
                  "the file is cut short or not safetensors: copy or download it again");

  std::string text(length, '\0');
  if (auto done = input.read(kLengthBytes, std::as_writable_bytes(std::span(text))); !done)
    return tl::unexpected(std::move(done.error()));
  auto header = parseSafetensorsHeader(text, rest - length, input.name());
  if (!header)
    return tl::unexpected(std::move(header.error()));
  SafetensorsFile file(std::move(input));
  file.headerEnd = kLengthBytes + length;
  file.index = std::move(header->entries);
  file.strings = std::move(header->metadata);
  return file;
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(index.begin(), index.end(), [&](const SafetensorsEntry& entry) {
    return entry.name == name;
  });
  return found == index.end() ? nullptr : &*found;
}

tl::expected<void, Error> SafetensorsFile::fetch(const SafetensorsEntry& entry,
                                                 std::uint64_t offset,
                                                 std::span<std::byte> to) const {
  if (offset > entry.size() || to.size() > entry.size() - offset)
    return tl::unexpected(Error{.file = name(),
                                .problem = "more is read than the tensor has",
                                .tensor = entry.name,
                                .expected = fmt::format("at most {} bytes", entry.size()),
                                .found = fmt::format("{} bytes from byte {}", to.size(), offset),
                                .fix = "this is a mistake in octavo: please report it"});
  return input.read(headerEnd + entry.begin + offset, to).map_error([&](Error error) {
    error.tensor = entry.name;
    return error;
  });
}

tl::expected<std::vector<std::byte>, Error>
SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  std::vector<std::byte> bytes(entry.size());
  return fetch(entry, 0, bytes).map([&] { return std::move(bytes); });
}

tl::expected<numerics::Tensor, Error> SafetensorsFile::read(const SafetensorsEntry& entry) const {
  if (!entry.dtype->type)
    return tl::unexpected(Error{.file = name(),
                                .problem = "its dtype cannot be used here",
                                .tensor = entry.name,
                                .expected = "one that tensors of octavo hold",
                                .found = std::string(entry.dtype->name),
                                .fix = "convert it first"});
  const numerics::ElementType& type = *entry.dtype->type;
  auto stored = bytes(entry);
  if (!stored)
    return tl::unexpected(std::move(stored.error()));
  numerics::Tensor tensor{type, entry.shape, {}};
  if (entry.dtype->bits < 8)
    tensor.bytes = unpackCodes(*stored, entry.dtype->bits, tensor.size());
  else
    tensor.bytes = std::move(*stored);
  if (type.isBoolean())
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      if (tensor.bytes[i] > std::byte{1})
        return tl::unexpected(Error{
            .file = name(),
            .problem = "a BOOL is neither 0 nor 1",
            .tensor = entry.name,
            .expected = "0 or 1",
            .found = fmt::format("{} in element {}", std::to_integer<unsigned>(tensor.bytes[i]), i),
            .fix = "store it as U8 if it is not a truth value"});
  return tensor;
}

tl::expected<void, Error> writeSafetensors(const std::filesystem::path& path,
                                           std::span<const NamedTensor> tensors,
                                           const SafetensorsMetadata& metadata) {
  std::vector<PlannedTensor> planned;
  for (const NamedTensor& tensor : tensors) {
    const SafetensorsDtype* dtype = findSafetensorsDtype(tensor.tensor->type);
    if (!dtype)
      return tl::unexpected(Error{.file = path.string(),
                                  .problem = "safetensors has no dtype for its elements",
                                  .tensor = tensor.name,
                                  .expected = "a type that safetensors has",
                                  .found = tensor.tensor->type.name(),
                                  .fix = npyHolds(tensor.tensor->type)
                                             ? "write a .npy file, which has it"
                                             : "convert it to a wider type"});
    planned.push_back({tensor.name, dtype, tensor.tensor->shape});
  }
  auto writer = ShardWriter::create(path, planned, metadata);
  if (!writer)
    return tl::unexpected(std::move(writer.error()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::span<const std::byte> bytes = tensors[i].tensor->bytes;
    const int bits = planned[i].dtype->bits;
    auto written = bits < 8 ? writer->write(i, 0, packCodes(bytes, bits)) //
                            : writer->write(i, 0, bytes);
    if (!written)
      return written;
  }
  return writer->commit();
}

} // namespace octavo::checkpoint
