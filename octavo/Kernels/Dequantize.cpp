#include "octavo/Kernels/Dequantize.h"

#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace octavo::kernels {

/// Elements of a task, and of a piece of a row.
static constexpr std::size_t kDequantizeTask = std::size_t{1} << 16;

namespace {

class Dequantization {
public:
  Dequantization(const std::uint8_t* codes, const void* scales, float outer,
                 std::span<const std::int64_t> shape, const ScaledType& type, float* values,
                 const Execution& execution)
      : codes(codes), scales(static_cast<const std::byte*>(scales)), outer(outer), type(type),
        values(values), execution(execution), table(kernelTable(execution.isa)),
        layout(shape, type.block), elements(decodePlan(*type.element)),
        stores(storesFor(layout.size() * (sizeof(float) + 1))) {}

  void run() {
    // An outer scale beside a power of two: their product may leave f32 where the value does not.
    if (type.scale->specials == format::Specials::Scale && outer != 1.0f)
      dequantizeOneByOne();
    else if (isRun())
      dequantizeRuns();
    else if (layout.block(0) == 1 && layout.isBlockedOnlyWithin(2))
      dequantizeStrips();
    else
      dequantizeBlocks();
  }

private:
  /// Scales of a task, at most: of blocks of a vector of f32, or of a strip, which may be wide: its
  /// rows are written one after the other, and memory takes long pieces faster.
  static constexpr std::size_t kMostScales = kDequantizeTask / 4;

  bool isRunBlock() const {
    const std::size_t block = layout.block(0);
    return std::has_single_bit(block) && block <= kDequantizeTask &&
           block * sizeof(float) >= static_cast<std::size_t>(table.vectorBytes);
  }
  bool isRun() const { return layout.isBlockedOnlyWithin(1) && isRunBlock(); }

  /// The values of `n` scales from block `block` on.
  void decodeScales(std::size_t block, std::size_t n, float* to) const {
    const ElementFormat& format = *type.scale;
    const auto bytes = static_cast<std::size_t>(format.bytes());
    const std::byte* from = scales + block * bytes;
    if (format.isNarrow())
      table.decodeF32(decodePlan(format), reinterpret_cast<const std::uint8_t*>(from), to, n,
                      Stores::Cached);
    else if (format == format::element("f32"))
      std::memcpy(to, from, n * sizeof(float));
    else
      for (std::size_t i = 0; i < n; ++i)
        to[i] = static_cast<float>(numerics::decode(format, codeAt(block + i)));
  }
  std::uint32_t codeAt(std::size_t block) const {
    std::uint32_t code = 0;
    const auto bytes = static_cast<std::size_t>(type.scale->bytes());
    std::memcpy(&code, scales + block * bytes, bytes); // little-endian, as everywhere here
    return code;
  }

  void dequantizeRuns() {
    const std::size_t length = layout.extent(0);
    const std::size_t block = layout.block(0);
    const std::size_t rows = layout.size() / length;
    const std::size_t pieces = (length + kDequantizeTask - 1) / kDequantizeTask;
    const std::size_t blocksInRow = (length + block - 1) / block;
    const std::size_t grain = std::max<std::size_t>(1, kDequantizeTask / length);
    forRanges(rows * pieces, grain, execution, [&](std::size_t begin, std::size_t end) {
      float decoded[kMostScales];
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t start = i % pieces * kDequantizeTask;
        const std::size_t n = std::min(kDequantizeTask, length - start);
        const std::size_t at = i / pieces * length + start;
        decodeScales(i / pieces * blocksInRow + start / block, (n + block - 1) / block, decoded);
        dequantizeRun(at, n, decoded);
      }
    });
  }

  void dequantizeStrips() {
    const std::size_t columns = layout.extent(0);
    const std::size_t rows = layout.extent(1);
    const std::size_t block = layout.block(1);
    const std::size_t blocksInColumn = (rows + block - 1) / block;
    const std::size_t strips = (columns + kMostScales - 1) / kMostScales;
    const std::size_t tasks = layout.size() / (rows * columns) * blocksInColumn * strips;
    const std::size_t work = block * std::min(columns, kMostScales);
    const std::size_t grain = std::max<std::size_t>(1, kDequantizeTask / work);
    forRanges(tasks, grain, execution, [&](std::size_t begin, std::size_t end) {
      float decoded[kMostScales];
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t column = i % strips * kMostScales;
        const std::size_t gridRow = i / strips;
        const std::size_t row = gridRow % blocksInColumn * block;
        const std::size_t at = (gridRow / blocksInColumn * rows + row) * columns + column;
        const std::size_t width = std::min(kMostScales, columns - column);
        decodeScales(gridRow * columns + column, width, decoded);
        table.dequantizeStrip(elements, {.codes = codes + at,
                                         .stride = columns,
                                         .rows = std::min(block, rows - row),
                                         .columns = width,
                                         .scales = decoded,
                                         .outer = outer,
                                         .values = values + at,
                                         .stores = stores});
      }
    });
  }

  /// Any blocks: a group's rows one after the other, or one by one where they are so large that
  /// threads share a block.
  void dequantizeBlocks() {
    const std::size_t size = layout.size() / layout.blockCount();
    if (size >= 4 * kDequantizeTask) {
      for (std::size_t block = 0; block < layout.blockCount(); ++block)
        layout.forSegments(block, [&](std::size_t at, std::size_t n) {
          forRanges(n, kDequantizeTask, execution, [&](std::size_t begin, std::size_t end) {
            float scale;
            decodeScales(block, 1, &scale);
            dequantizeSegment(at + begin, end - begin, scale);
          });
        });
      return;
    }
    const std::size_t inGroup = layout.blocksInGroup();
    const std::size_t chunks = (inGroup + kMostScales - 1) / kMostScales;
    const std::size_t grain =
        std::max<std::size_t>(1, kDequantizeTask / std::max<std::size_t>(1, size * inGroup));
    forRanges(layout.groupCount() * chunks, grain, execution,
              [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                  const std::size_t first = i % chunks * kMostScales;
                  dequantizeChunk(i / chunks, first, std::min(kMostScales, inGroup - first));
                }
              });
  }

  /// `count` blocks of a group, from its block `first` on.
  void dequantizeChunk(std::size_t group, std::size_t first, std::size_t count) {
    const std::size_t block = layout.block(0);
    const std::size_t begin = first * block;
    const std::size_t end = std::min(begin + count * block, layout.extent(0));
    ThreadVector<float> decoded(count);
    decodeScales(group * layout.blocksInGroup() + first, count, decoded.data());
    layout.forRows(group, [&](std::size_t row) {
      if (isRunBlock())
        dequantizeRun(row + begin, end - begin, decoded.data());
      else
        for (std::size_t i = 0, at = begin; i < count; ++i, at += block)
          dequantizeSegment(row + at, std::min(block, end - at), decoded[i]);
    });
  }

  void dequantizeRun(std::size_t at, std::size_t n, const float* decoded) {
    table.dequantizeRun(elements, {.codes = codes + at,
                                   .n = n,
                                   .block = layout.block(0),
                                   .scales = decoded,
                                   .outer = outer,
                                   .values = values + at,
                                   .stores = stores});
  }

  /// Values of one scale.
  void dequantizeSegment(std::size_t at, std::size_t n, float scale) {
    table.dequantizeRun(elements, {.codes = codes + at,
                                   .n = n,
                                   .block = std::bit_ceil(std::max<std::size_t>(n, 64)),
                                   .scales = &scale,
                                   .outer = outer,
                                   .values = values + at,
                                   .stores = n >= kDequantizeTask ? stores : Stores::Cached});
  }

  void dequantizeOneByOne() {
    forRanges(layout.blockCount(), 64, execution, [&](std::size_t begin, std::size_t end) {
      for (std::size_t block = begin; block < end; ++block)
        layout.forSegments(block, [&](std::size_t at, std::size_t size) {
          for (std::size_t i = at; i < at + size; ++i)
            values[i] = numerics::dequantizeElement(type, codeAt(block), outer, codes[i]);
        });
    });
  }

  const std::uint8_t* codes;
  const std::byte* scales;
  float outer;
  const ScaledType& type;
  float* values;
  const Execution& execution;
  const KernelTable& table;
  BlockLayout layout;
  const DecodePlan& elements;
  Stores stores;
};

} // namespace

void dequantize(const std::uint8_t* codes, const void* scales, float outer,
                std::span<const std::int64_t> shape, const ScaledType& type, float* values,
                const Execution& execution) {
  if (std::ranges::find(shape, 0) != shape.end())
    return;
  Dequantization(codes, scales, outer, shape, type, values, execution).run();
}

} // namespace octavo::kernels
