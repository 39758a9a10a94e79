#include "octavo/Kernels/Quantize.h"

#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace octavo::kernels {

/// Elements of a task: its values fit the second-level cache. A multiple of every block of a run.
static constexpr std::size_t kTask = std::size_t{1} << 16;
/// Elements of a panel of more than one strip: the second pass finds it in the last-level cache,
/// and the first pass reads whole rows of most tensors.
static constexpr std::size_t kPanel = std::size_t{1} << 18;
/// The most elements of a tensor whose block amaxes are kept from the pass that finds the tensor's
/// amax. It bounds the memory for them.
static constexpr std::size_t kMostKept = std::size_t{1} << 20;
/// Numbers of a stream that are made at a time; a multiple of every block of a run.
static constexpr std::size_t kNumbers = 2048;
/// The length that shorter blocks are padded to.
static constexpr std::size_t kPadded = 32;
/// Blocks of a chunk of a group, at most: bounds the memory a task takes for what it knows of them.
static constexpr std::size_t kMostInChunk = 2048;

namespace {

class Quantization {
public:
  Quantization(const float* values, std::span<const std::int64_t> shape, const ScaledType& type,
               const QuantizeOptions& options, std::uint8_t* codes, void* scales,
               std::span<const std::uint32_t> randomBits, const numerics::RandomStream* stream,
               const Execution& execution, std::optional<float> tensorAmax)
      : tensorAmax(tensorAmax), values(values), type(type), options(options), codes(codes),
        scales(static_cast<std::byte*>(scales)), randomBits(randomBits), stream(stream),
        execution(execution), table(kernelTable(execution.isa)), layout(shape, type.block),
        stores(storesFor(layout.size() * (sizeof(float) + 1))) {}

  QuantizeReport run(const numerics::OuterScale* given) {
    QuantizeReport report;
    bool isFinite = true;
    if (type.hasOuterScale) {
      const float amax = options.amax ? *options.amax : tensorAmax ? *tensorAmax : amaxOfTensor();
      isFinite = std::isfinite(amax);
      if (!isFinite && options.nonFinite == NonFinite::Error)
        isRefused = true;
      else
        outer = given ? *given
                      : numerics::outerScale(*type.element, *type.scale,
                                             isFinite ? amax : largestOfSoundBlocks(), options);
      report.outer = outer.value;
      report.outerInverse = outer.inverse;
    }
    plan = blockPlan(type, options, outer.value, outer.inverse);
    if (!isRefused) {
      const bool isImposed = (tensorAmax || options.amax) && !type.hasOuterScale;
      if (!isFinite || isImposed || plan.scale == BlockPlan::Scale::Other)
        quantizeBlocks();
      else if (isRun())
        quantizeRuns();
      else if (isShortRun())
        quantizeShortRuns();
      else if (isStrip())
        quantizeStrips();
      else
        quantizeBlocks();
    }
    report.nonFinite = nonFinite;
    if (isRefused)
      report.refused = firstNonFinite();
    return report;
  }

private:
  bool isRun() const {
    const std::size_t block = layout.block(0);
    return layout.isBlockedOnlyWithin(1) && std::has_single_bit(block) &&
           block * sizeof(float) >= static_cast<std::size_t>(table.vectorBytes) &&
           block <= kLargestRunBlock;
  }
  /// Whole blocks one after another that are shorter than those of a run, as where all of a row is
  /// one: the patches of images of three features.
  bool isShortRun() const {
    return layout.rank() == 1 && layout.extent(0) % layout.block(0) == 0 &&
           layout.block(0) > kPadded / 2 && layout.block(0) < kPadded && randomBits.empty() &&
           !stream;
  }
  /// Blocks along the last axis but one, or of so many rows that finding the scales is little
  /// beside them.
  bool isStrip() const {
    constexpr std::size_t kFewRows = 8;
    return layout.isBlockedOnlyWithin(2) &&
           (layout.block(0) == 1 ||
            (layout.rank() > 1 && layout.block(0) <= kStripColumns / 4 &&
             layout.block(1) >= kFewRows && layout.block(1) <= kStripColumns / 4));
  }

  const std::uint32_t* randomAt(std::size_t i) const {
    return randomBits.empty() ? nullptr : randomBits.data() + i;
  }
  /// Calls `body` with offsets and lengths of pieces of the values at `at` and their random
  /// numbers: one piece, or with a stream pieces whose numbers are made at a time.
  template <typename Body> void withNumbers(std::size_t at, std::size_t n, Body body) const {
    if (!stream)
      return body(0, n, randomAt(at));
    std::uint32_t numbers[kNumbers];
    for (std::size_t i = 0; i < n; i += kNumbers) {
      const std::size_t count = std::min(kNumbers, n - i);
      table.fillRandom(*stream, at + i, numbers, count);
      body(i, count, numbers);
    }
  }
  void* scaleAt(std::size_t block) const { return scales + block * plan.scaleBytes; }

  void add(std::int64_t found) {
    if (found < 0)
      isRefused = true;
    else
      nonFinite += found;
  }

  /// Blocks along the last axis: rows, cut into pieces of whole blocks where they are long. Calls
  /// `body` with a piece's place, length and first block.
  template <typename Body> void forPieces(Body body) {
    const std::size_t length = layout.extent(0);
    const std::size_t rows = layout.size() / length;
    const std::size_t pieces = (length + kTask - 1) / kTask;
    const std::size_t blocksInRow = (length + layout.block(0) - 1) / layout.block(0);
    const std::size_t grain = std::max<std::size_t>(1, kTask / length);
    forRanges(rows * pieces, grain, execution, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end && !isRefused; ++i) {
        const std::size_t row = i / pieces;
        const std::size_t start = i % pieces * kTask;
        body(row * length + start, std::min(kTask, length - start),
             row * blocksInRow + start / layout.block(0));
      }
    });
  }

  float amaxOfTensor() {
    if (!isRun() || layout.size() > kMostKept)
      return kernels::amax(WideType::F32, values, layout.size(), execution);
    amaxes = ThreadVector<float>(layout.blockCount());
    SharedMaximum greatest;
    forPieces([&](std::size_t at, std::size_t n, std::size_t block) {
      greatest.raise(table.blockAmaxes(values + at, n, layout.block(0), amaxes.data() + block));
    });
    return std::bit_cast<float>(greatest.get());
  }

  void quantizeRuns() {
    const std::size_t block = layout.block(0);
    forPieces([&](std::size_t at, std::size_t n, std::size_t firstBlock) {
      withNumbers(at, n, [&](std::size_t offset, std::size_t count, const std::uint32_t* random) {
        const std::size_t place = firstBlock + offset / block;
        add(table.quantizeRun(plan, {.values = values + at + offset,
                                     .n = count,
                                     .block = block,
                                     .codes = codes + at + offset,
                                     .scales = scaleAt(place),
                                     .random = random,
                                     .stores = stores,
                                     .amaxes = amaxes.empty() ? nullptr : amaxes.data() + place}));
      });
    });
  }

  /// Quantizes blocks as runs, each block padded with zeros, which change no scale.
  void quantizeShortRuns() {
    constexpr std::size_t kBlocks = 64;
    const std::size_t block = layout.block(0);
    forRanges(layout.blockCount(), kTask / kPadded, execution,
              [&](std::size_t begin, std::size_t end) {
                float wide[kBlocks * kPadded] = {};
                std::uint8_t found[kBlocks * kPadded];
                for (std::size_t first = begin; first < end && !isRefused; first += kBlocks) {
                  const std::size_t count = std::min(kBlocks, end - first);
                  for (std::size_t i = 0; i < count; ++i)
                    std::copy_n(values + (first + i) * block, block, wide + i * kPadded);
                  add(table.quantizeRun(plan, {.values = wide,
                                               .n = count * kPadded,
                                               .block = kPadded,
                                               .codes = found,
                                               .scales = scaleAt(first),
                                               .random = nullptr,
                                               .stores = Stores::Cached,
                                               .amaxes = nullptr}));
                  for (std::size_t i = 0; i < count; ++i)
                    std::copy_n(found + i * kPadded, block, codes + (first + i) * block);
                }
              });
  }

  /// Panels of blocks side by side along the last axis, strip by strip. Those of a task lie one
  /// below the other. Where there are few rows of blocks, threads share them: panels are strips.
  void quantizeStrips() {
    const std::size_t columns = layout.extent(0);
    const std::size_t rows = layout.extent(1);
    const std::size_t width = layout.block(0);
    const std::size_t height = layout.block(1);
    const std::size_t stripColumns = kStripColumns / width * width;
    const std::size_t blocksInRow = (columns + width - 1) / width;
    const std::size_t blocksInColumn = (rows + height - 1) / height;
    const std::size_t gridRows = layout.size() / (rows * columns) * blocksInColumn;
    const bool isWide = gridRows >= 4 * static_cast<std::size_t>(threadsOf(execution));
    const std::size_t panelColumns =
        std::max<std::size_t>(1, isWide ? kPanel / height / stripColumns : 1) * stripColumns;
    const std::size_t panels = (columns + panelColumns - 1) / panelColumns;
    const std::size_t tasks = gridRows * panels;
    const std::size_t work = height * std::min(columns, panelColumns);
    const std::size_t grain = std::max<std::size_t>(1, kTask / work);
    struct Panel {
      std::size_t gridRow; ///< in the grid of rows of blocks of all tensors of two axes
      std::size_t at, column, rows, columns;
    };
    auto panelOf = [&](std::size_t i) {
      const std::size_t matrix = i / blocksInColumn / panels;
      const std::size_t row = i % blocksInColumn * height;
      const std::size_t column = i / blocksInColumn % panels * panelColumns;
      return Panel{.gridRow = matrix * blocksInColumn + i % blocksInColumn,
                   .at = (matrix * rows + row) * columns + column,
                   .column = column,
                   .rows = std::min(height, rows - row),
                   .columns = std::min(panelColumns, columns - column)};
    };
    forRanges(tasks, grain, execution, [&](std::size_t begin, std::size_t end) {
      // The last strip begins anywhere, and has zeros to a multiple of 64 columns of its own.
      const std::size_t room = std::min(columns, panelColumns) + 63;
      ThreadVector<std::uint32_t> amaxes(room, 0), amaxesAhead(room);
      bool areKnown = false;
      for (std::size_t i = begin; i < end && !isRefused; ++i) {
        const Panel panel = panelOf(i);
        std::optional<StripsAhead> ahead;
        if (i + 1 < end && panel.rows % 4 == 0)
          if (const Panel next = panelOf(i + 1);
              next.rows == panel.rows && next.columns == panel.columns) {
            std::ranges::fill(amaxesAhead, 0);
            ahead = StripsAhead{.values = values + next.at,
                                .rows = next.rows,
                                .columns = next.columns,
                                .amaxes = amaxesAhead.data()};
          }
        for (std::size_t c = 0; c < panel.columns; c += stripColumns) {
          const std::size_t at = panel.at + c;
          add(table.quantizeStrip(
              plan, {.values = values + at,
                     .stride = columns,
                     .rows = panel.rows,
                     .columns = std::min(stripColumns, panel.columns - c),
                     .width = width,
                     .amaxes = amaxes.data() + c,
                     .areAmaxesKnown = areKnown,
                     .ahead = ahead ? &*ahead : nullptr,
                     .finishesAhead = c + stripColumns >= panel.columns,
                     .codes = codes + at,
                     .codeStride = columns,
                     .scales = scaleAt(panel.gridRow * blocksInRow + (panel.column + c) / width),
                     .random = randomAt(at),
                     .stream = stream,
                     .first = at,
                     .stores = stores}));
        }
        areKnown = ahead.has_value();
        std::swap(amaxes, amaxesAhead);
      }
    });
  }

  /// Any blocks: group by group, row by row in a chunk of a group's blocks, or one by one where
  /// they are so large that threads share a block.
  void quantizeBlocks() {
    const std::size_t size = layout.size() / layout.blockCount();
    if (size >= 4 * kTask) {
      for (std::size_t block = 0; block < layout.blockCount() && !isRefused; ++block)
        quantizeLargeBlock(block);
      return;
    }
    const std::size_t inGroup = layout.blocksInGroup();
    const std::size_t inChunk = std::clamp<std::size_t>(2 * kTask / std::max<std::size_t>(1, size),
                                                        1, std::min(inGroup, kMostInChunk));
    const std::size_t chunks = (inGroup + inChunk - 1) / inChunk;
    const std::size_t grain =
        std::max<std::size_t>(1, kTask / std::max<std::size_t>(1, size * inChunk));
    forRanges(layout.groupCount() * chunks, grain, execution,
              [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end && !isRefused; ++i) {
                  const std::size_t first = i % chunks * inChunk;
                  quantizeChunk(i / chunks, first, std::min(inChunk, inGroup - first));
                }
              });
  }

  struct ScaleOfBlock {
    std::uint32_t code;
    float factor; ///< of a segment
    bool isFinite;
    bool isPoisoned;
  };

  /// Finds the scale of a block from the bits of the largest |x| in it, stores it and counts what
  /// is not finite; nothing where that is refused.
  std::optional<ScaleOfBlock> settleScale(std::size_t block, std::uint32_t greatest) {
    if (tensorAmax && !type.hasOuterScale)
      greatest = std::max(greatest, std::bit_cast<std::uint32_t>(*tensorAmax));
    numerics::BlockFacts facts{.amax = std::bit_cast<float>(greatest)};
    ScaleOfBlock found{};
    found.isFinite = std::isfinite(facts.amax);
    if (!found.isFinite) {
      if (options.nonFinite == NonFinite::Error) {
        isRefused = true;
        return std::nullopt;
      }
      std::int64_t count = 0;
      facts = factsOf(block, count);
      nonFinite += count;
    }
    const numerics::BlockScale scale = numerics::blockScale(type, options, facts, outer);
    found.code = scale.code;
    found.isPoisoned = type.scale->isNan(scale.code);
    std::memcpy(scaleAt(block), &found.code, plan.scaleBytes); // little-endian, as everywhere here
    found.factor = plan.quotient == numerics::Quotient::Exact
                       ? static_cast<float>(1 / numerics::decode(*type.scale, scale.code))
                       : scale.factor;
    return found;
  }

  void quantizeSegment(const ScaleOfBlock& scale, std::size_t at, std::size_t size) {
    if (scale.isPoisoned)
      std::memset(codes + at, 0, size);
    else
      withNumbers(at, size, [&](std::size_t offset, std::size_t n, const std::uint32_t* random) {
        table.quantizeSegment(plan, {.values = values + at + offset,
                                     .n = n,
                                     .scaleCode = scale.code,
                                     .factor = scale.factor,
                                     .exactly = !scale.isFinite,
                                     .codes = codes + at + offset,
                                     .random = random});
      });
  }

  /// `count` blocks of a group, from its block `first` on.
  void quantizeChunk(std::size_t group, std::size_t first, std::size_t count) {
    const std::size_t block = layout.block(0);
    const std::size_t end = std::min((first + count) * block, layout.extent(0));
    ThreadVector<std::uint32_t> greatest(count, 0); // bits order NaN above Inf
    layout.forRows(group, [&](std::size_t row) {
      for (std::size_t i = 0, at = first * block; i < count; ++i, at += block)
        greatest[i] =
            std::max(greatest[i], table.amaxF32(values + row + at, std::min(block, end - at)));
    });
    ThreadVector<ScaleOfBlock> found(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto scale = settleScale(group * layout.blocksInGroup() + first + i, greatest[i]);
      if (!scale)
        return;
      found[i] = *scale;
    }
    layout.forRows(group, [&](std::size_t row) {
      for (std::size_t i = 0, at = first * block; i < count; ++i, at += block)
        quantizeSegment(found[i], row + at, std::min(block, end - at));
    });
  }

  void quantizeLargeBlock(std::size_t block) {
    std::uint32_t greatest = 0;
    layout.forSegments(block, [&](std::size_t at, std::size_t size) {
      const float found = kernels::amax(WideType::F32, values + at, size, execution);
      greatest = std::max(greatest, std::bit_cast<std::uint32_t>(found));
    });
    const auto scale = settleScale(block, greatest);
    if (!scale)
      return;
    layout.forSegments(block, [&](std::size_t at, std::size_t size) {
      forRanges(size, kTask, execution, [&](std::size_t begin, std::size_t end) {
        quantizeSegment(*scale, at + begin, end - begin);
      });
    });
  }

  numerics::BlockFacts factsOf(std::size_t block, std::int64_t& nonFiniteCount) const {
    numerics::BlockFacts facts;
    layout.forSegments(block, [&](std::size_t at, std::size_t size) {
      for (float value : std::span(values + at, size)) {
        facts.add(value);
        nonFiniteCount += !std::isfinite(value);
      }
    });
    return facts;
  }

  float largestOfSoundBlocks() const {
    float largest = 0;
    std::int64_t ignored = 0;
    for (std::size_t block = 0; block < layout.blockCount(); ++block)
      if (const numerics::BlockFacts facts = factsOf(block, ignored);
          !numerics::isPoisoned(facts, options))
        largest = std::max(largest, facts.hasInf ? std::numeric_limits<float>::max() : facts.amax);
    return largest;
  }

  NonFiniteInput firstNonFinite() const {
    for (std::size_t i = 0;; ++i)
      if (!std::isfinite(values[i]))
        return {static_cast<std::int64_t>(i), values[i]};
  }

  std::optional<float> tensorAmax; ///< of the tensor that this is a piece of
  const float* values;
  const ScaledType& type;
  const QuantizeOptions& options;
  std::uint8_t* codes;
  std::byte* scales;
  std::span<const std::uint32_t> randomBits;
  const numerics::RandomStream* stream;
  const Execution& execution;
  const KernelTable& table;
  BlockLayout layout;
  Stores stores;
  ThreadVector<float> amaxes; ///< of blocks of a run, where they were found with the tensor's
  numerics::OuterScale outer;
  BlockPlan plan{};
  std::atomic<std::int64_t> nonFinite{0};
  std::atomic<bool> isRefused{false};
};

} // namespace

static QuantizeReport quantizeWith(const float* values, std::span<const std::int64_t> shape,
                                   const ScaledType& type, const QuantizeOptions& options,
                                   std::uint8_t* codes, void* scales,
                                   std::span<const std::uint32_t> randomBits,
                                   const numerics::RandomStream* stream, const Execution& execution,
                                   std::optional<float> tensorAmax = std::nullopt,
                                   const numerics::OuterScale* outer = nullptr) {
  assert(options.rounding == Rounding::Stochastic || (randomBits.empty() && !stream));
  for (std::int64_t extent : shape)
    if (extent == 0)
      return {};
  return Quantization(values, shape, type, options, codes, scales, randomBits, stream, execution,
                      tensorAmax)
      .run(outer);
}

QuantizeReport quantize(const float* values, std::span<const std::int64_t> shape,
                        const ScaledType& type, const QuantizeOptions& options, std::uint8_t* codes,
                        void* scales, std::span<const std::uint32_t> randomBits,
                        const Execution& execution) {
  return quantizeWith(values, shape, type, options, codes, scales, randomBits, nullptr, execution);
}

QuantizeReport quantizeSeeded(const float* values, std::span<const std::int64_t> shape,
                              const ScaledType& type, const QuantizeOptions& options,
                              std::uint8_t* codes, void* scales,
                              const numerics::RandomStream& stream, const Execution& execution) {
  return quantizeWith(values, shape, type, options, codes, scales, {}, &stream, execution);
}

QuantizeReport quantizePiece(const float* values, std::span<const std::int64_t> shape,
                             const ScaledType& type, const QuantizeOptions& options, float amax,
                             std::uint8_t* codes, void* scales, const Execution& execution) {
  return quantizeWith(values, shape, type, options, codes, scales, {}, nullptr, execution, amax);
}

QuantizeReport quantizeUnder(const numerics::OuterScale& outer, const float* values,
                             std::span<const std::int64_t> shape, const ScaledType& type,
                             const QuantizeOptions& options, std::uint8_t* codes, void* scales,
                             std::span<const std::uint32_t> randomBits,
                             const Execution& execution) {
  assert(type.hasOuterScale);
  return quantizeWith(values, shape, type, options, codes, scales, randomBits, nullptr, execution,
                      std::nullopt, &outer);
}

} // namespace octavo::kernels
