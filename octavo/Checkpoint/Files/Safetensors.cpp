#include "octavo/Checkpoint/Files/Safetensors.h"

#include "octavo/Checkpoint/Files/PackedCodes.h"
#include "octavo/Checkpoint/Files/SafetensorsHeader.h"
#include "octavo/Checkpoint/Files/ShardWriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace octavo::checkpoint {

tl::expected<SafetensorsFile, Error> SafetensorsFile::open(const std::filesystem::path& path) {
  auto mapping = MappedFile::open(path);
  if (!mapping)
    return tl::unexpected(std::move(mapping.error()));
  auto file = parse(mapping->bytes(), path.string());
  if (file) {
    file->scattered = mapping->scatteredBytes().subspan(file->headerEnd);
    file->mapping = std::move(*mapping);
  }
  return file;
}

tl::expected<SafetensorsFile, Error> SafetensorsFile::parse(std::span<const std::byte> bytes,
                                                            std::string name) {
  const auto refuse = [&](std::string problem, std::string expected, std::string found,
                          std::string fix) {
    return tl::unexpected(Error{.file = name,
                                .problem = std::move(problem),
                                .offset = 0,
                                .expected = std::move(expected),
                                .found = std::move(found),
                                .fix = std::move(fix)});
  };
  if (bytes.size() < 8)
    return refuse("too short for a safetensors file", "8 bytes of header length or more",
                  fmt::format("{} bytes", bytes.size()), "copy or download it again");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  if (length > kSafetensorsMaxHeader)
    return refuse("the header length is beyond what the format allows",
                  fmt::format("at most {}", kSafetensorsMaxHeader), fmt::format("{}", length),
                  "the file is damaged or not safetensors");
  if (length > bytes.size() - 8)
    return refuse("the header length is beyond the end of the file",
                  fmt::format("at most {}", bytes.size() - 8), fmt::format("{}", length),
                  "the file is cut short or not safetensors: copy or download it again");

  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  auto header = parseSafetensorsHeader(text, bytes.size() - 8 - length, name);
  if (!header)
    return tl::unexpected(std::move(header.error()));
  SafetensorsFile file;
  file.file = std::move(name);
  file.headerEnd = 8 + length;
  file.scattered = file.data = bytes.subspan(file.headerEnd);
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

tl::expected<void, Error> SafetensorsFile::fetch(std::span<const std::byte> piece,
                                                 std::byte* to) const {
  if (!mapping) {
    std::memcpy(to, piece.data(), piece.size());
    return {};
  }
  const bool isInData = std::less_equal<>()(data.data(), piece.data()) &&
                        std::less<>()(piece.data(), data.data() + data.size());
  const std::byte* base = isInData ? data.data() : scattered.data();
  const auto begin = headerEnd + static_cast<std::uint64_t>(piece.data() - base);
  return mapping->read(begin, {to, piece.size()}).map_error([&](std::string problem) {
    return Error{.file = file,
                 .problem = std::move(problem),
                 .offset = begin,
                 .fix = "the input must stay as it is while it is read; check its disk"};
  });
}

tl::expected<numerics::Tensor, Error> SafetensorsFile::read(const SafetensorsEntry& entry) const {
  if (!entry.dtype->type)
    return tl::unexpected(Error{.file = file,
                                .problem = "its dtype cannot be used here",
                                .tensor = entry.name,
                                .expected = "real numbers or integers",
                                .found = std::string(entry.dtype->name),
                                .fix = "store the real and the imaginary part apart"});
  const numerics::ElementType type = *entry.dtype->type;
  const std::span<const std::byte> stored = bytes(entry);
  numerics::Tensor tensor{type, entry.shape, {}};
  if (entry.dtype->bits < 8)
    tensor.bytes = unpackCodes(stored, entry.dtype->bits, tensor.size());
  else
    tensor.bytes.assign(stored.begin(), stored.end());
  if (type.isBoolean())
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      if (tensor.bytes[i] > std::byte{1})
        return tl::unexpected(Error{
            .file = file,
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
                                  .expected = "a type that it has",
                                  .found = tensor.tensor->type.name(),
                                  .fix = "convert it to one (a wider type, or its codes as u8)"});
    planned.push_back({tensor.name, dtype, tensor.tensor->shape});
  }
  auto writer = ShardWriter::create(path, planned, metadata);
  if (!writer)
    return tl::unexpected(std::move(writer.error()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<std::byte>& bytes = tensors[i].tensor->bytes;
    const int bits = planned[i].dtype->bits;
    auto written = bits < 8 ? writer->write(i, 0, packCodes(bytes, bits)) //
                            : writer->write(i, 0, bytes);
    if (!written)
      return written;
  }
  return writer->commit();
}

} // namespace octavo::checkpoint
