#include "octavo/Checkpoint/LayerReader.h"

#include "octavo/Checkpoint/ByteMatrix.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Pack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace octavo::checkpoint {

using format::ElementFormat;

/// Codes that are unpacked before they are dequantized: with their values they fit the second-level
/// cache.
static constexpr std::int64_t kUnpacked = std::int64_t{1} << 15;

static tl::unexpected<Error> refuse(const Part& part, std::string problem, std::string expected,
                                    std::string found) {
  return tl::unexpected(Error{.file = part.tensor.shard->name(),
                              .problem = std::move(problem),
                              .tensor = part.tensor.name(),
                              .expected = std::move(expected),
                              .found = std::move(found),
                              .fix = "`octavo checkpoint lint` says what is wrong with the rest"});
}

static std::string storage(const SafetensorsEntry& entry) {
  return fmt::format("{} [{}]", entry.dtype->name, fmt::join(entry.shape, ", "));
}

/// A number of a part as it is stored.
static float storedNumber(const Part& part, std::size_t index) {
  const auto width = static_cast<std::size_t>(part.format->bytes());
  std::uint64_t code = 0;
  std::memcpy(&code, part.tensor.bytes().data() + index * width, width);
  return static_cast<float>(numerics::decode(*part.format, code));
}

std::vector<float> multipliers(const Part& part) {
  const std::size_t count =
      part.tensor.bytes().size() / static_cast<std::size_t>(part.format->bytes());
  std::vector<float> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = storedNumber(part, i);
    numbers.push_back(part.meaning == Meaning::Multiplies ? value : 1.0f / value);
  }
  return numbers;
}

tl::expected<LayerReader, Error> LayerReader::open(const Layer& layer) {
  if (!layer.unapplied.empty())
    return tl::unexpected(
        Error{.file = layer.elements.tensor.shard->name(),
              .problem = "the values of this layer are not its codes times its scales",
              .tensor = layer.elements.tensor.name(),
              .found = layer.unapplied,
              .fix = "convert it with the tool that wrote it, which applies that tensor"});
  LayerReader reader(layer);
  assert(layer.shape.size() >= 2 && layer.type.block.size() == layer.shape.size());
  const std::size_t rank = layer.shape.size();
  const std::vector<std::int64_t> grid = format::scaleShape(layer.shape, layer.type.block);
  reader.columnCount = layer.shape.back();
  reader.rowCount = 1;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis)
    reader.rowCount *= layer.shape[axis];
  reader.blockColumns = layer.type.block.back();
  reader.gridColumns = grid.back();
  // Experts lie on a grid each, unless a block spans all of them.
  const bool spansExperts =
      rank > 2 && std::any_of(layer.type.block.begin(), layer.type.block.end() - 2,
                              [](std::int64_t extent) { return extent > 1; });
  const bool isJoined = rank == 2 || spansExperts;
  // At least 1: rows are divided by them, also where there are none.
  reader.storedRows = std::max<std::int64_t>(1, layer.shape[rank - 2]);
  reader.matrixRows = isJoined ? std::max<std::int64_t>(1, reader.rowCount) : reader.storedRows;
  reader.blockRows = spansExperts ? reader.rowCount : layer.type.block[rank - 2];
  reader.gridRows = spansExperts ? 1 : grid[rank - 2];
  if (spansExperts && numerics::elementCount(grid) != reader.gridColumns)
    return refuse(layer.elements, "its blocks span some experts but not all", "one expert or all",
                  fmt::format("blocks [{}]", fmt::join(layer.type.block, ", ")));

  const int width = layer.elements.packed ? layer.type.element->width() : 8;
  const std::uint64_t rowBits = static_cast<std::uint64_t>(reader.columnCount) * width;
  reader.rowBytes = rowBits / 8;
  const std::size_t expected = reader.rowBytes * static_cast<std::size_t>(reader.rowCount);
  if (rowBits % 8 != 0 || layer.elements.tensor.bytes().size() != expected)
    return refuse(layer.elements, "its size is not that of the layer's elements",
                  fmt::format("{} bytes for [{}] codes of {} bits, rows of whole bytes", expected,
                              fmt::join(layer.shape, ", "), width),
                  storage(*layer.elements.tensor.entry));
  if (!layer.scales)
    return refuse(layer.elements, "the scales of this layer are missing or unreadable",
                  fmt::format("scales [{}]", fmt::join(grid, ", ")), "none");
  const auto scaleBytes = static_cast<std::size_t>(numerics::elementCount(grid)) *
                          static_cast<std::size_t>(layer.scales->format->bytes());
  if (layer.scales->tensor.bytes().size() != scaleBytes)
    return refuse(
        *layer.scales, "its size is not that of the layer's scales",
        fmt::format("{} [{}] in any rank", layer.scales->format->name, fmt::join(grid, ", ")),
        storage(*layer.scales->tensor.entry));
  if (layer.type.hasOuterScale) {
    if (!layer.outer)
      return refuse(layer.elements, "the outer scale of this layer is missing or unreadable",
                    "one f32", "none");
    reader.outerScales = multipliers(*layer.outer);
    const auto count = static_cast<std::int64_t>(reader.outerScales.size());
    const std::int64_t experts = rank == 3 ? layer.shape[0] : 1;
    if (count != 1 && (count == 0 || count != experts || spansExperts))
      return refuse(*layer.outer, "not one scale, nor one an expert",
                    fmt::format("1 or {} numbers", experts), storage(*layer.outer->tensor.entry));
    if (count == 1 && layer.outer->meaning == Meaning::Divides)
      reader.storedDivisor = storedNumber(*layer.outer, 0);
  }
  return reader;
}

std::int64_t LayerReader::pieceEnd(std::int64_t begin, std::int64_t most) const {
  if (blockRows == 1)
    return std::min(rowCount, begin + std::max<std::int64_t>(1, most));
  const std::int64_t matrixEnd = std::min(rowCount, (begin / matrixRows + 1) * matrixRows);
  const std::int64_t step = blockRows >= matrixRows ? 1 : blockRows;
  return std::min(matrixEnd, begin + std::max<std::int64_t>(1, most / step) * step);
}

template <typename Read>
void LayerReader::forMatrices(std::int64_t begin, std::int64_t end, const Read& read) const {
  for (std::int64_t to = begin; begin < end; begin = to) {
    to = isReadByMatrix() ? std::min(end, (begin / storedRows + 1) * storedRows) : end;
    read(begin, to);
  }
}

std::span<const std::byte> LayerReader::elementBytes(std::int64_t begin, std::int64_t end) const {
  if (isSwapped()) {
    begin = begin / storedRows * storedRows;
    end = (end + storedRows - 1) / storedRows * storedRows;
  }
  return source->elements.tensor.bytes().subspan(static_cast<std::size_t>(begin) * rowBytes,
                                                 static_cast<std::size_t>(end - begin) * rowBytes);
}

std::span<const std::byte> LayerReader::elementRows(std::int64_t begin, std::int64_t end,
                                                    std::vector<std::byte>& gathered) const {
  const std::span<const std::byte> bytes = elementBytes(begin, end);
  if (!isSwapped())
    return bytes;
  const std::int64_t first = begin % storedRows;
  gatherColumns(bytes.data(), static_cast<std::int64_t>(rowBytes), storedRows, first,
                first + end - begin, 1, gathered);
  return gathered;
}

std::int64_t LayerReader::scaleCount(std::int64_t begin, std::int64_t end) const {
  return (end - begin + blockRows - 1) / blockRows * gridColumns;
}

std::span<const std::byte> LayerReader::storedScales(std::int64_t begin, std::int64_t end) const {
  if (hasSwappedScales()) {
    begin = begin / matrixRows * matrixRows;
    end = (end + matrixRows - 1) / matrixRows * matrixRows;
  }
  const auto width = static_cast<std::size_t>(source->scales->format->bytes());
  const std::int64_t count = hasSwappedScales()
                                 ? (end - begin) / matrixRows * gridRows * gridColumns
                                 : scaleCount(begin, end);
  return source->scales->tensor.bytes().subspan(
      static_cast<std::size_t>(gridRow(begin) * gridColumns) * width,
      static_cast<std::size_t>(count) * width);
}

std::span<const std::byte> LayerReader::scaleRows(std::int64_t begin, std::int64_t end,
                                                  std::vector<std::byte>& gathered) const {
  const std::span<const std::byte> bytes = storedScales(begin, end);
  if (!hasSwappedScales())
    return bytes;
  const std::int64_t first = begin % matrixRows / blockRows;
  gatherColumns(bytes.data(), gridColumns, gridRows, first,
                first + (end - begin + blockRows - 1) / blockRows,
                static_cast<std::size_t>(source->scales->format->bytes()), gathered);
  return gathered;
}

void LayerReader::codes(std::int64_t begin, std::int64_t end, std::uint8_t* codes,
                        const kernels::Execution& execution) const {
  forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
    matrixCodes(from, to, codes + (from - begin) * columnCount, execution);
  });
}

void LayerReader::scales(std::int64_t begin, std::int64_t end, void* scales) const {
  auto* out = static_cast<std::byte*>(scales);
  forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
    // A block may span matrices: its one scale is read with each of them, into the same place.
    const std::int64_t before = (gridRow(from) - gridRow(begin)) * gridColumns;
    matrixScales(from, to, out + before * source->type.scale->bytes());
  });
}

void LayerReader::values(std::int64_t begin, std::int64_t end, float* values,
                         const kernels::Execution& execution) const {
  forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
    std::vector<std::byte> gathered;
    matrixValues(from, to, elementRows(from, to, gathered).data(),
                 values + (from - begin) * columnCount, execution);
  });
}

tl::expected<void, Error> LayerReader::fetchCodes(std::int64_t begin, std::int64_t end,
                                                  std::uint8_t* codes,
                                                  std::vector<std::byte>& fetched) const {
  const kernels::Execution single{.threads = 1};
  if (isSwapped()) {
    this->codes(begin, end, codes, single);
    return {};
  }
  const std::span<const std::byte> bytes = elementBytes(begin, end);
  const SafetensorsFile& shard = *source->elements.tensor.shard;
  if (!unpacks())
    return shard.fetch(bytes, reinterpret_cast<std::byte*>(codes));
  fetched.resize(bytes.size());
  return shard.fetch(bytes, fetched.data()).map([&] {
    unpackRows(fetched.data(), end - begin, codes, single);
  });
}

tl::expected<void, Error> LayerReader::fetchValues(std::int64_t begin, std::int64_t end,
                                                   float* values,
                                                   std::vector<std::byte>& fetched) const {
  const kernels::Execution single{.threads = 1};
  if (isSwapped()) {
    this->values(begin, end, values, single);
    return {};
  }
  const std::span<const std::byte> bytes = elementBytes(begin, end);
  fetched.resize(bytes.size());
  return source->elements.tensor.shard->fetch(bytes, fetched.data()).map([&] {
    forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
      matrixValues(from, to, fetched.data() + static_cast<std::size_t>(from - begin) * rowBytes,
                   values + (from - begin) * columnCount, single);
    });
  });
}

void LayerReader::unpackRows(const std::byte* packed, std::int64_t rows, std::uint8_t* codes,
                             const kernels::Execution& execution) const {
  kernels::unpack(reinterpret_cast<const std::uint8_t*>(packed),
                  static_cast<std::size_t>(rows * columnCount), source->type.element->width(),
                  codes, execution);
}

void LayerReader::matrixCodes(std::int64_t begin, std::int64_t end, std::uint8_t* codes,
                              const kernels::Execution& execution) const {
  std::vector<std::byte> gathered;
  const std::span<const std::byte> bytes = elementRows(begin, end, gathered);
  if (unpacks())
    unpackRows(bytes.data(), end - begin, codes, execution);
  else
    std::memcpy(codes, bytes.data(), bytes.size());
}

void LayerReader::matrixScales(std::int64_t begin, std::int64_t end, std::byte* scales) const {
  std::vector<std::byte> gathered;
  const std::span<const std::byte> bytes = scaleRows(begin, end, gathered);
  const ElementFormat& stored = *source->scales->format;
  const ElementFormat& wanted = *source->type.scale;
  if (stored.width() == wanted.width()) {
    std::memcpy(scales, bytes.data(), bytes.size());
    return;
  }
  for (std::size_t at = 0; at < bytes.size(); at += stored.bytes(), scales += wanted.bytes()) {
    std::uint64_t code = 0;
    std::memcpy(&code, bytes.data() + at, stored.bytes());
    const std::uint64_t widened = numerics::convert(wanted, numerics::decode(stored, code));
    std::memcpy(scales, &widened, wanted.bytes());
  }
}

void LayerReader::matrixValues(std::int64_t begin, std::int64_t end, const std::byte* elements,
                               float* values, const kernels::Execution& execution) const {
  std::vector<std::byte> gatheredScales;
  const std::span<const std::byte> scales = scaleRows(begin, end, gatheredScales);
  const auto scaleWidth = static_cast<std::size_t>(source->scales->format->bytes());
  // Scales are taken in the dtype in which they are stored: widening them first changes nothing.
  const auto dequantize = [&](std::int64_t from, std::int64_t to, const std::uint8_t* codes,
                              const kernels::Execution& how) {
    const std::int64_t shape[] = {to - from, columnCount};
    const numerics::ScaledType type{source->type.element,
                                    source->scales->format,
                                    {std::min(blockRows, to - from), blockColumns},
                                    source->type.hasOuterScale};
    const std::int64_t before = (gridRow(from) - gridRow(begin)) * gridColumns;
    kernels::dequantize(codes, scales.data() + static_cast<std::size_t>(before) * scaleWidth,
                        outer(begin), shape, type, values + (from - begin) * columnCount, how);
  };
  if (!unpacks())
    return dequantize(begin, end, reinterpret_cast<const std::uint8_t*>(elements), execution);
  // Rows of blocks that are unpacked together.
  const std::int64_t step = blockRows >= matrixRows ? 1 : blockRows;
  const std::int64_t rows =
      std::max<std::int64_t>(1, kUnpacked / std::max<std::int64_t>(1, columnCount * step)) * step;
  const auto parts = static_cast<std::size_t>((end - begin + rows - 1) / rows);
  kernels::forRanges(parts, 1, execution, [&](std::size_t first, std::size_t last) {
    std::vector<std::uint8_t> unpacked(static_cast<std::size_t>(rows * columnCount));
    const kernels::Execution single{.isa = execution.isa, .threads = 1};
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t from = begin + static_cast<std::int64_t>(i) * rows;
      const std::int64_t to = std::min(end, from + rows);
      unpackRows(elements + static_cast<std::size_t>(from - begin) * rowBytes, to - from,
                 unpacked.data(), single);
      dequantize(from, to, unpacked.data(), single);
    }
  });
}

void LayerReader::release(std::int64_t begin, std::int64_t end) const {
  // Rows that lie across a matrix are done with it at its end.
  if (isSwapped()) {
    end = end / storedRows * storedRows;
    if (end <= begin)
      return;
  }
  source->elements.tensor.shard->release(elementBytes(begin, end));
  source->scales->tensor.shard->release(storedScales(begin, end));
}

} // namespace octavo::checkpoint
