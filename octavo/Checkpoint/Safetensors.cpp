#include "octavo/Checkpoint/Safetensors.h"

#include "octavo/Checkpoint/OutputFile.h"
#include "octavo/Checkpoint/PackedCodes.h"
#include "octavo/Checkpoint/SafetensorsHeader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace octavo::checkpoint {

tl::expected<SafetensorsFile, Error> SafetensorsFile::open(const std::filesystem::path& path) {
  auto mapping = MappedFile::open(path);
  if (!mapping)
    return tl::unexpected(std::move(mapping.error()));
  auto file = parse(mapping->bytes(), path.string());
  if (file)
    file->mapping = std::move(*mapping);
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
  file.data = bytes.subspan(8 + length);
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

namespace {

struct PlacedTensor {
  const NamedTensor* source;
  const SafetensorsDtype* dtype;
  std::uint64_t length;
};

tl::expected<std::vector<PlacedTensor>, Error> place(std::span<const NamedTensor> tensors,
                                                     const std::string& file) {
  std::vector<PlacedTensor> placed;
  std::set<std::string_view> names = {"__metadata__"};
  for (const NamedTensor& tensor : tensors) {
    const auto refuse = [&](std::string problem, std::string expected, std::string found,
                            std::string fix) {
      return tl::unexpected(Error{.file = file,
                                  .problem = std::move(problem),
                                  .tensor = tensor.name,
                                  .expected = std::move(expected),
                                  .found = std::move(found),
                                  .fix = std::move(fix)});
    };
    if (!names.insert(tensor.name).second)
      return refuse("two tensors would have this name", "each name once, none \"__metadata__\"",
                    "it again", "rename one");
    const SafetensorsDtype* dtype = findSafetensorsDtype(tensor.tensor->type);
    if (!dtype)
      return refuse("safetensors has no dtype for its elements", "a type that it has",
                    tensor.tensor->type.name(),
                    "convert it to one (a wider type, or its codes as u8)");
    const std::uint64_t count = tensor.tensor->size();
    if (dtype->bits < 8 && count * dtype->bits % 8 != 0)
      return refuse("safetensors stores whole bytes only",
                    fmt::format("a multiple of {} elements", dtype->bits == 4 ? 2 : 4),
                    fmt::format("{}", count), "pad it, or store its codes as u8");
    const std::uint64_t length =
        dtype->bits < 8 ? packedBytes(count, dtype->bits) : tensor.tensor->bytes.size();
    placed.push_back({&tensor, dtype, length});
  }
  // Descending by dtype: whatever the sizes, every tensor then lies aligned to its element.
  std::sort(placed.begin(), placed.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
    return std::tie(b.dtype, a.source->name) < std::tie(a.dtype, b.source->name);
  });
  return placed;
}

} // namespace

tl::expected<void, Error> writeSafetensors(const std::filesystem::path& path,
                                           std::span<const NamedTensor> tensors,
                                           const SafetensorsMetadata& metadata) {
  auto placed = place(tensors, path.string());
  if (!placed)
    return tl::unexpected(std::move(placed.error()));

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    nlohmann::ordered_json& strings = header["__metadata__"];
    for (const auto& [key, value] : metadata)
      strings[key] = value;
  }
  std::uint64_t end = 0;
  for (const PlacedTensor& tensor : *placed) {
    const std::uint64_t begin = std::exchange(end, end + tensor.length);
    header.push_back({tensor.source->name,
                      {{"dtype", tensor.dtype->name},
                       {"shape", tensor.source->tensor->shape},
                       {"data_offsets", {begin, end}}}});
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) { // the one error of dump: a string is not UTF-8
    return tl::unexpected(Error{.file = path.string(),
                                .problem = "a tensor's name or a metadata string is not UTF-8",
                                .fix = "rename it"});
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kSafetensorsMaxHeader)
    return tl::unexpected(Error{.file = path.string(),
                                .problem = "the header would be too long for the format",
                                .expected = fmt::format("at most {} bytes", kSafetensorsMaxHeader),
                                .found = fmt::format("{}", text.size()),
                                .fix = "write several files"});

  auto file = OutputFile::create(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  auto written = file->write(length + text);
  for (const PlacedTensor& tensor : *placed) {
    if (!written)
      break;
    const std::vector<std::byte>& bytes = tensor.source->tensor->bytes;
    written = tensor.dtype->bits < 8 ? file->write(packCodes(bytes, tensor.dtype->bits))
                                     : file->write(bytes);
  }
  if (!written)
    return written;
  return file->commit();
}

} // namespace octavo::checkpoint
