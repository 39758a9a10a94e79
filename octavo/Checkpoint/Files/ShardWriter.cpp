#include "octavo/Checkpoint/Files/ShardWriter.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/PackedCodes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <tuple>

namespace octavo::checkpoint {

std::uint64_t storedBytes(const SafetensorsDtype& dtype, std::span<const std::int64_t> shape) {
  const auto count = static_cast<std::uint64_t>(numerics::elementCount(shape));
  return dtype.bits < 8 ? packedBytes(count, dtype.bits) : count * (dtype.bits / 8);
}

tl::expected<ShardHeader, Error> shardHeader(const std::string& file,
                                             std::span<const PlannedTensor> tensors,
                                             const SafetensorsMetadata& metadata) {
  std::set<std::string_view> names = {"__metadata__"};
  for (const PlannedTensor& tensor : tensors) {
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
    const auto count = static_cast<std::uint64_t>(numerics::elementCount(tensor.shape));
    if (tensor.dtype->bits < 8 && count * tensor.dtype->bits % 8 != 0)
      return refuse("safetensors stores whole bytes only",
                    fmt::format("a multiple of {} elements", 8 / std::gcd(8, tensor.dtype->bits)),
                    fmt::format("{}", count),
                    "pad it, store its codes as U8, or write a .npy file, which has "
                    "a byte for each");
  }

  // Descending by dtype: each tensor is then aligned to its element size, whatever the sizes.
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(tensors[b].dtype, tensors[a].name) <
           std::tie(tensors[a].dtype, tensors[b].name);
  });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    nlohmann::ordered_json& strings = header["__metadata__"];
    for (const auto& [key, value] : metadata)
      strings[key] = value;
  }
  // Entries are appended as pairs. Inserting by key would search all keys each time: quadratic in
  // their number.
  auto& entries = header.get_ref<nlohmann::ordered_json::object_t&>();
  ShardHeader result{
      .bytes = {}, .begins = std::vector<std::uint64_t>(tensors.size()), .dataLength = 0};
  for (std::size_t i : order) {
    const PlannedTensor& tensor = tensors[i];
    const std::uint64_t begin = result.begins[i] = result.dataLength;
    result.dataLength += storedBytes(*tensor.dtype, tensor.shape);
    entries.push_back({tensor.name,
                       {{"dtype", tensor.dtype->name},
                        {"shape", tensor.shape},
                        {"data_offsets", {begin, result.dataLength}}}});
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) { // the only error of dump: a string is not UTF-8
    return tl::unexpected(Error{.file = file,
                                .problem = "a tensor's name or a metadata string is not UTF-8",
                                .fix = "rename it"});
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kSafetensorsMaxHeader)
    return tl::unexpected(Error{.file = file,
                                .problem = "the header would be too long for the format",
                                .expected = fmt::format("at most {} bytes", kSafetensorsMaxHeader),
                                .found = fmt::format("{}", text.size()),
                                .fix = "write several files"});
  for (int i = 0; i < 8; ++i)
    result.bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  result.bytes += text;
  return result;
}

struct ShardWriter::State {
  OutputFile file;
  std::vector<std::uint64_t> begins; ///< offset in the file of each tensor given to create
  std::vector<std::uint64_t> lengths;
  std::uint64_t dataLength;
  std::atomic<std::uint64_t> written{0};
};

ShardWriter::ShardWriter(std::unique_ptr<State> state) : state(std::move(state)) {}
ShardWriter::ShardWriter(ShardWriter&&) noexcept = default;
ShardWriter::~ShardWriter() = default;

tl::expected<ShardWriter, Error> ShardWriter::create(const std::filesystem::path& path,
                                                     std::span<const PlannedTensor> tensors,
                                                     const SafetensorsMetadata& metadata) {
  auto header = shardHeader(path.string(), tensors, metadata);
  if (!header)
    return tl::unexpected(std::move(header.error()));
  auto file = OutputFile::create(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  const std::uint64_t headerLength = header->bytes.size();
  auto written = file->reserve(headerLength + header->dataLength).and_then([&] {
    return file->writeAt(0, std::as_bytes(std::span(header->bytes)));
  });
  if (!written)
    return tl::unexpected(std::move(written.error()));
  auto state = std::unique_ptr<State>(new State{.file = std::move(*file),
                                                .begins = std::move(header->begins),
                                                .lengths = {},
                                                .dataLength = header->dataLength});
  for (std::uint64_t& begin : state->begins)
    begin += headerLength;
  for (const PlannedTensor& tensor : tensors)
    state->lengths.push_back(storedBytes(*tensor.dtype, tensor.shape));
  return ShardWriter(std::move(state));
}

std::uint64_t ShardWriter::position(std::size_t index, std::uint64_t offset) const {
  return state->begins[index] + offset;
}

/// The error of a caller that writes something else than planned. No byte goes beyond its tensor.
static Error mistake(std::string problem) {
  return {.file = "the shard that is written",
          .problem = std::move(problem),
          .fix = "this is a mistake in octavo: please report it"};
}

tl::expected<void, Error> ShardWriter::write(std::size_t index, std::uint64_t offset,
                                             std::span<const std::byte> bytes) {
  if (index >= state->lengths.size() || offset > state->lengths[index] ||
      bytes.size() > state->lengths[index] - offset)
    return tl::unexpected(mistake("more is written than the tensor takes"));
  state->written += bytes.size();
  return state->file.writeAt(position(index, offset), bytes);
}

tl::expected<void, Error> ShardWriter::copy(std::size_t index, const SafetensorsFile& source,
                                            const SafetensorsEntry& entry, PageBuffer& buffer) {
  const std::uint64_t size = entry.size();
  if (size != state->lengths[index])
    return tl::unexpected(mistake("a tensor is copied to one of another size"));
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t begin = position(index, at);
    // All pieces but the first begin at a page of the file.
    const std::size_t piece = std::min<std::uint64_t>(size - at, kCopyPiece - begin % kPageBytes);
    const std::span<std::byte> room = buffer.place(begin, piece);
    auto copied = source.fetch(entry, at, room).and_then([&] { return write(index, at, room); });
    if (!copied)
      return copied;
    at += piece;
  }
  return {};
}

tl::expected<void, Error> ShardWriter::place() {
  if (state->written != state->dataLength)
    return tl::unexpected(mistake("not all tensors are written"));
  return state->file.place();
}

tl::expected<void, Error> ShardWriter::commit() {
  if (state->written != state->dataLength)
    return tl::unexpected(mistake("not all tensors are written"));
  return state->file.commit();
}

} // namespace octavo::checkpoint
