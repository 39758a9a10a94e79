#include "octavo/Checkpoint/LayerReader.h"

#include "octavo/Checkpoint/ScaleTiles.h"
#include "octavo/Checkpoint/StoredCode.h"
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

/// Codes that are unpacked at a time before they are dequantized. Codes and values together fit the
/// second-level cache.
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

/// The stored numbers of a part.
static tl::expected<std::vector<float>, Error> storedNumbers(const Part& part) {
  const auto bytes = part.tensor.bytes();
  if (!bytes)
    return tl::unexpected(bytes.error());
  const auto width = static_cast<std::size_t>(part.format->bytes());
  std::vector<float> numbers;
  for (std::size_t at = 0; at + width <= bytes->size(); at += width)
    numbers.push_back(static_cast<float>(
        numerics::decode(*part.format, codeAt(*part.format, bytes->data() + at))));
  return numbers;
}

tl::expected<std::vector<float>, Error> multipliers(const Part& part) {
  auto numbers = storedNumbers(part);
  if (numbers && part.meaning == Meaning::Divides)
    for (float& number : *numbers)
      number = 1.0f / number;
  return numbers;
}

/// Number of scales in the layer's scale tensor, padding included.
static std::int64_t storedScaleCount(const Layer& layer, std::span<const std::int64_t> grid) {
  switch (layer.scales->order) {
  case ScaleOrder::Rows:
    break;
  case ScaleOrder::Tiles: {
    const auto [rows, columns] = paddedToTiles(grid[0], grid[1]);
    return rows * columns;
  }
  case ScaleOrder::Parts:
    return std::ssize(layer.partRows) * (grid.size() == 3 ? grid[0] : 1);
  }
  return numerics::elementCount(grid);
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
  // Each expert has its own grid, unless a block spans all experts.
  const bool spansExperts =
      rank > 2 && std::any_of(layer.type.block.begin(), layer.type.block.end() - 2,
                              [](std::int64_t extent) { return extent > 1; });
  const bool isJoined = rank == 2 || spansExperts;
  // At least 1, because row numbers are divided by these values even if there are no rows.
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
  if (rowBits % 8 != 0 || layer.elements.tensor.size() != expected)
    return refuse(layer.elements, "its size is not that of the layer's elements",
                  fmt::format("{} bytes for [{}] codes of {} bits, rows of whole bytes", expected,
                              fmt::join(layer.shape, ", "), width),
                  storage(*layer.elements.tensor.entry));
  if (!layer.scales)
    return refuse(layer.elements, "the scales of this layer are missing or unreadable",
                  fmt::format("scales [{}]", fmt::join(grid, ", ")),
                  layer.misread.empty() ? "none" : layer.misread);
  const auto scaleBytes = static_cast<std::size_t>(storedScaleCount(layer, grid)) *
                          static_cast<std::size_t>(layer.scales->format->bytes());
  if (layer.scales->tensor.size() != scaleBytes)
    return refuse(
        *layer.scales, "its size is not that of the layer's scales",
        fmt::format("{} [{}] in any rank", layer.scales->format->name, fmt::join(grid, ", ")),
        storage(*layer.scales->tensor.entry));
  if (layer.type.hasOuterScale) {
    if (!layer.outer)
      return refuse(layer.elements, "the outer scale of this layer is missing or unreadable",
                    "one f32", "none");
    auto numbers = multipliers(*layer.outer);
    if (!numbers)
      return tl::unexpected(std::move(numbers.error()));
    reader.outerScales = std::move(*numbers);
    const auto count = static_cast<std::int64_t>(reader.outerScales.size());
    const std::int64_t experts = rank == 3 ? layer.shape[0] : 1;
    if (count != 1 && (count == 0 || count != experts || spansExperts))
      return refuse(*layer.outer, "neither one scale nor one per expert",
                    fmt::format("1 or {} numbers", experts), storage(*layer.outer->tensor.entry));
    if (count == 1 && layer.outer->meaning == Meaning::Divides) {
      const auto stored = storedNumbers(*layer.outer);
      if (!stored)
        return tl::unexpected(stored.error());
      reader.storedDivisor = stored->front();
    }
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
tl::expected<void, Error> LayerReader::forMatrices(std::int64_t begin, std::int64_t end,
                                                   const Read& read) const {
  for (std::int64_t to = begin; begin < end; begin = to) {
    to = isReadByMatrix() ? std::min(end, (begin / storedRows + 1) * storedRows) : end;
    if (auto done = read(begin, to); !done)
      return done;
  }
  return {};
}

tl::expected<void, Error> LayerReader::fetchElements(std::int64_t begin, std::int64_t end,
                                                     Fetched& fetched) const {
  const StoredTensor& tensor = source->elements.tensor;
  if (!isSwapped()) {
    fetched.elements.resize(static_cast<std::size_t>(end - begin) * rowBytes);
    auto done = tensor.fetch(static_cast<std::size_t>(begin) * rowBytes, fetched.elements);
    if (done && source->elements.nibbles == NibbleOrder::EvenIsHigh)
      for (std::byte& pair : fetched.elements)
        pair = pair << 4 | pair >> 4;
    return done;
  }
  const std::int64_t first = begin % storedRows;
  const auto matrixBegin = static_cast<std::uint64_t>(begin - first) * rowBytes;
  return fetched.elementColumns.read(
      {tensor, matrixBegin, static_cast<std::int64_t>(rowBytes), storedRows, 1}, first,
      first + end - begin, fetched.elements);
}

std::int64_t LayerReader::scaleCount(std::int64_t begin, std::int64_t end) const {
  return (end - begin + blockRows - 1) / blockRows * gridColumns;
}

LayerReader::Range LayerReader::storedScales(std::int64_t begin, std::int64_t end) const {
  const auto width = static_cast<std::uint64_t>(source->scales->format->bytes());
  return {static_cast<std::uint64_t>(gridRow(begin) * gridColumns) * width,
          static_cast<std::uint64_t>(scaleCount(begin, end)) * width};
}

tl::expected<void, Error> LayerReader::fetchScales(std::int64_t begin, std::int64_t end,
                                                   Fetched& fetched) const {
  const StoredTensor& tensor = source->scales->tensor;
  if (source->scales->order == ScaleOrder::Tiles)
    return fetchTiles(begin, end, fetched);
  if (source->scales->order == ScaleOrder::Parts)
    return fetchParts(begin, end, fetched);
  if (!hasSwappedScales()) {
    const Range range = storedScales(begin, end);
    fetched.scales.resize(range.size);
    return tensor.fetch(range.begin, fetched.scales);
  }
  const auto width = static_cast<std::size_t>(source->scales->format->bytes());
  const std::int64_t first = begin % matrixRows / blockRows;
  const auto matrixBegin =
      static_cast<std::uint64_t>(begin / matrixRows * gridRows * gridColumns) * width;
  return fetched.scaleColumns.read({tensor, matrixBegin, gridColumns, gridRows, width}, first,
                                   first + (end - begin + blockRows - 1) / blockRows,
                                   fetched.scales);
}

tl::expected<void, Error> LayerReader::fetchTiles(std::int64_t begin, std::int64_t end,
                                                  Fetched& fetched) const {
  assert(blockRows == 1);
  const auto width = static_cast<std::size_t>(source->scales->format->bytes());
  // Scales in one row of tiles.
  const std::int64_t inRow = paddedToTiles(1, gridColumns)[1] * kTileRows;
  const std::int64_t firstRow = begin / kTileRows;
  const std::int64_t lastRow = std::max(firstRow, (end + kTileRows - 1) / kTileRows);
  fetched.tiles.resize(static_cast<std::size_t>((lastRow - firstRow) * inRow) * width);
  fetched.scales.resize(static_cast<std::size_t>((end - begin) * gridColumns) * width);
  return source->scales->tensor
      .fetch(static_cast<std::uint64_t>(firstRow * inRow) * width, fetched.tiles)
      .map([&] {
        std::byte* to = fetched.scales.data();
        for (std::int64_t row = begin; row < end; ++row)
          for (std::int64_t column = 0; column < gridColumns; ++column, to += width)
            std::memcpy(to,
                        fetched.tiles.data() +
                            static_cast<std::size_t>(
                                placeInTiles(row - firstRow * kTileRows, column, gridColumns)) *
                                width,
                        width);
      });
}

tl::expected<void, Error> LayerReader::fetchParts(std::int64_t begin, std::int64_t end,
                                                  Fetched& fetched) const {
  assert(blockRows == 1 && gridColumns == 1);
  const auto width = static_cast<std::size_t>(source->scales->format->bytes());
  fetched.tiles.resize(source->scales->tensor.size());
  fetched.scales.resize(static_cast<std::size_t>(end - begin) * width);
  return source->scales->tensor.fetch(0, fetched.tiles).map([&] {
    std::byte* to = fetched.scales.data();
    for (std::int64_t row = begin; row < end; ++row, to += width) {
      std::int64_t inMatrix = row % storedRows;
      std::size_t part = 0;
      while (part + 1 < source->partRows.size() && inMatrix >= source->partRows[part])
        inMatrix -= source->partRows[part++];
      const auto place =
          static_cast<std::size_t>(row / storedRows) * source->partRows.size() + part;
      std::memcpy(to, fetched.tiles.data() + place * width, width);
    }
  });
}

tl::expected<void, Error> LayerReader::codes(std::int64_t begin, std::int64_t end,
                                             std::uint8_t* codes, Fetched& fetched,
                                             const kernels::Execution& execution) const {
  return forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
    return matrixCodes(from, to, codes + (from - begin) * columnCount, fetched, execution);
  });
}

tl::expected<void, Error> LayerReader::scales(std::int64_t begin, std::int64_t end, void* scales,
                                              Fetched& fetched) const {
  auto* out = static_cast<std::byte*>(scales);
  return forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
    // If a block spans matrices, its one scale is read for each matrix and written to the same
    // place.
    const std::int64_t before = (gridRow(from) - gridRow(begin)) * gridColumns;
    return matrixScales(from, to, out + before * source->type.scale->bytes(), fetched);
  });
}

tl::expected<void, Error> LayerReader::values(std::int64_t begin, std::int64_t end, float* values,
                                              Fetched& fetched,
                                              const kernels::Execution& execution) const {
  return forMatrices(begin, end, [&](std::int64_t from, std::int64_t to) {
    return matrixValues(from, to, values + (from - begin) * columnCount, fetched, execution);
  });
}

void LayerReader::unpackRows(const std::byte* packed, std::int64_t rows, std::uint8_t* codes,
                             const kernels::Execution& execution) const {
  kernels::unpack(reinterpret_cast<const std::uint8_t*>(packed),
                  static_cast<std::size_t>(rows * columnCount), source->type.element->width(),
                  codes, execution);
}

tl::expected<void, Error> LayerReader::matrixCodes(std::int64_t begin, std::int64_t end,
                                                   std::uint8_t* codes, Fetched& fetched,
                                                   const kernels::Execution& execution) const {
  if (!unpacks() && !isSwapped())
    return source->elements.tensor.fetch(
        static_cast<std::size_t>(begin) * rowBytes,
        {reinterpret_cast<std::byte*>(codes), static_cast<std::size_t>(end - begin) * rowBytes});
  return fetchElements(begin, end, fetched).map([&] {
    if (unpacks())
      unpackRows(fetched.elements.data(), end - begin, codes, execution);
    else
      std::ranges::copy(fetched.elements, reinterpret_cast<std::byte*>(codes));
  });
}

tl::expected<void, Error> LayerReader::matrixScales(std::int64_t begin, std::int64_t end,
                                                    std::byte* scales, Fetched& fetched) const {
  if (auto done = fetchScales(begin, end, fetched); !done)
    return done;
  const std::span<const std::byte> bytes = fetched.scales;
  const ElementFormat& stored = *source->scales->format;
  const ElementFormat& wanted = *source->type.scale;
  if (stored.width() == wanted.width()) {
    std::ranges::copy(bytes, scales);
    return {};
  }
  for (std::size_t at = 0; at < bytes.size(); at += stored.bytes(), scales += wanted.bytes()) {
    const std::uint64_t widened =
        numerics::convert(wanted, numerics::decode(stored, codeAt(stored, bytes.data() + at)));
    std::memcpy(scales, &widened, wanted.bytes());
  }
  return {};
}

tl::expected<void, Error> LayerReader::matrixValues(std::int64_t begin, std::int64_t end,
                                                    float* values, Fetched& fetched,
                                                    const kernels::Execution& execution) const {
  if (auto done = fetchElements(begin, end, fetched).and_then([&] {
        return fetchScales(begin, end, fetched);
      });
      !done)
    return done;
  const std::byte* const elements = fetched.elements.data();
  const auto scaleWidth = static_cast<std::size_t>(source->scales->format->bytes());
  // dequantize takes the scales in their stored format: widening them first would not change a
  // value.
  const auto dequantize = [&](std::int64_t from, std::int64_t to, const std::uint8_t* codes,
                              const kernels::Execution& how) {
    const std::int64_t shape[] = {to - from, columnCount};
    const numerics::ScaledType type{source->type.element,
                                    source->scales->format,
                                    {std::min(blockRows, to - from), blockColumns},
                                    source->type.hasOuterScale};
    const std::int64_t before = (gridRow(from) - gridRow(begin)) * gridColumns;
    kernels::dequantize(codes,
                        fetched.scales.data() + static_cast<std::size_t>(before) * scaleWidth,
                        outer(begin), shape, type, values + (from - begin) * columnCount, how);
  };
  if (!unpacks()) {
    dequantize(begin, end, reinterpret_cast<const std::uint8_t*>(elements), execution);
    return {};
  }
  // Rows that are unpacked at a time: whole rows of blocks, unless a block spans all rows.
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
  return {};
}

} // namespace octavo::checkpoint
