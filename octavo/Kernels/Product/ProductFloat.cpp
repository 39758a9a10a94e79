#include "octavo/Kernels/Product/ProductFloat.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/Product/DoubleProduct.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <unistd.h>
#include <utility>

namespace octavo::kernels {

namespace portable {
extern const FloatKernels kFloatProducts;
}
#if defined(__x86_64__)
namespace avx2 {
extern const FloatKernels kFloatProducts;
}
#if !defined(OCTAVO_WITHOUT_AVX512)
namespace avx512 {
extern const FloatKernels kFloatProducts;
}
namespace avx512bf16 {
extern const FloatKernels kFloatProducts, kFloatProductsByTiles;
}
#endif
#elif defined(__aarch64__)
namespace neon {
extern const FloatKernels kFloatProducts;
}
#endif

const FloatKernels& floatKernels(Isa isa, FloatDot dot) {
  assert(!whyNot(isa) && (dot == FloatDot::MultiplyAdds || usesBf16(isa)));
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return avx2::kFloatProducts;
#if !defined(OCTAVO_WITHOUT_AVX512)
  case Isa::Avx512:
    if (dot == FloatDot::MultiplyAdds)
      return avx512::kFloatProducts;
    return usesTiles(isa) ? avx512bf16::kFloatProductsByTiles : avx512bf16::kFloatProducts;
#endif
#elif defined(__aarch64__)
  case Isa::Neon:
    return neon::kFloatProducts;
#endif
  default:
    return portable::kFloatProducts;
  }
}

const FloatKernels& floatKernels(const ProductPlan& plan) {
  return floatKernels(plan.isa, plan.floatDot);
}

static FloatFormat makeFloatFormat(const ElementFormat& element, bool halves) {
  FloatFormat format{};
  format.unit = 1;
  const int trailing = element.trailingSignificandBits;
  if (element.isInteger() || !element.isNarrow())
    return format; // such operands are packed as values
  format.shift = static_cast<std::uint32_t>(23 - trailing);
  format.bias = static_cast<std::uint32_t>(127 - element.bias) << 23;
  format.subnormals = 1u << trailing;
  format.special = element.hasInf() || element.nanCode()
                       ? static_cast<std::uint32_t>(element.maxCode()) + 1
                       : 0x80;
  format.quantum = std::ldexp(1.0f, element.quantumExponent());
  if (halves) {
    // A magnitude's fields belong 10 - M bits up in an f16; in the upper byte of a word they are 8
    // up.
    format.codeShift = std::max(0, 2 - trailing);
    format.halfShift = static_cast<std::uint16_t>(std::max(0, trailing - 2));
    format.halfMask = static_cast<std::uint16_t>(0x8000 | 0x7FFF >> format.halfShift);
    format.unit = std::ldexp(1.0f, 15 - element.bias);
  }
  for (std::uint32_t magnitude = 0; magnitude < element.signMask(); ++magnitude) {
    const auto value = static_cast<float>(numerics::decode(element, magnitude));
    const auto bits = std::bit_cast<std::uint32_t>(value);
    format.low[magnitude] = static_cast<std::uint8_t>(bits >> 16);
    format.high[magnitude] = static_cast<std::uint8_t>(bits >> 24);
  }
  return format;
}

const FloatFormat& floatFormat(const ElementFormat& element, bool halves) {
  // Made once: for a small product, making them would take most of the time.
  static const auto formats = [] {
    std::array<std::array<FloatFormat, 2>, format::kElementFormats.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      for (bool half : {false, true})
        made[i][half] = makeFloatFormat(format::kElementFormats[i], half);
    return made;
  }();
  return formats[static_cast<std::size_t>(&element - format::kElementFormats.data())][halves];
}

PackedOperand decodedAhead(const ProductPlan& plan, PackedOperand&& right,
                           const Execution& execution, PackedBytes* spare) {
  using Storage = PackedOperand::Storage;
  if (!plan.floats || plan.floatDot != FloatDot::Bf16Pairs || right.storage != Storage::Codes)
    return std::move(right);
  const FloatKernels& kernels = floatKernels(plan);
  const FloatFormat& format = floatFormat(*plan.right.element, kernels.decodesHalves);
  const std::int64_t panels = right.paddedRows / kPanelColumns;
  const std::int64_t scalesOfPanel = plan.groups * kPanelColumns;
  const std::int64_t bytesOfPanel = scalesOfPanel * 4 * kernels.groupSteps;
  PackedBytes values(static_cast<std::size_t>(panels * bytesOfPanel),
                     spare != nullptr ? std::move(*spare) : PackedBytes(), PackedBytes::Fill::None);
  forRanges(static_cast<std::size_t>(panels), 1, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto panel = static_cast<std::int64_t>(begin);
                   panel < static_cast<std::int64_t>(end); ++panel)
                kernels.expand(format,
                               reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                                   panel * scalesOfPanel * kGroup,
                               reinterpret_cast<const float*>(right.scales.data()) +
                                   panel * scalesOfPanel,
                               kPanelColumns, plan.groups, values.data() + panel * bytesOfPanel);
            });
  right.storage = Storage::Values;
  if (spare != nullptr) {
    *spare = std::move(right.elements);
    right.scales.clear();
  } else {
    right.scales = {};
  }
  right.elements = std::move(values);
  return std::move(right);
}

namespace {

/// A float product in progress.
class FloatProduct final : public ProductWork {
public:
  FloatProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
               const ProductEpilogue& epilogue, const Execution& execution);
  void run(std::int64_t task) const override;

private:
  const ProductPlan& plan;
  const PackedOperand& left;
  const PackedOperand& right;
  const ProductEpilogue& epilogue;
  const DoubleProduct inDouble{plan, left, right, epilogue.outerScales()};
  const FloatKernels& kernels = floatKernels(plan);
  const FloatFormat& leftFormat = floatFormat(*plan.left.element, kernels.decodesHalves);
  const FloatFormat& rightFormat = floatFormat(*plan.right.element, kernels.decodesHalves);
  std::int64_t columns = right.rows;
  std::int64_t panels = right.paddedRows / kPanelColumns;
  /// The rows of C whose expanded chunk of K fills half of L2.
  std::int64_t stripRows = 192;
  /// Rows and panels of a task. The expanded chunk of K of its panels stays in the last-level cache
  /// for all its strips of rows, so each code is decoded once for many rows or columns of C. With
  /// several threads, tasks are smaller, so that no thread waits long for the last task.
  std::int64_t blockRows, blockPanels;
  bool hasFactors = !left.factors.empty() || !right.factors.empty();
  ThreadVector<float> ones = ThreadVector<float>(
      static_cast<std::size_t>(std::max(left.paddedRows, right.paddedRows)), 1.0f);
  /// Whether few rows are multiplied directly by packed codes. A right operand that was decoded
  /// ahead has no codes for that.
  bool isDirect = left.rows <= kernels.directRows && rightAsValues() == plan.rightAsValues;
  ThreadVector<std::byte> fewRows; ///< separate expanded rows of the left operand

  std::int64_t laneBytes() const { return std::int64_t{4} * kernels.groupSteps; }
  std::int64_t chunk() const;
  bool leftAsValues() const { return left.storage == PackedOperand::Storage::Values; }
  bool rightAsValues() const { return right.storage == PackedOperand::Storage::Values; }
  /// The start of the values of `lanes` interleaved rows, from a group of K on.
  const std::byte* values(const PackedOperand& operand, std::int64_t firstLane, int lanes,
                          std::int64_t firstGroup) const {
    return operand.elements.data() + (firstLane * plan.groups + firstGroup * lanes) * laneBytes();
  }
  void expand(const FloatFormat& format, const PackedOperand& operand, std::int64_t firstLane,
              int lanes, std::int64_t firstGroup, std::int64_t groups, std::byte* out) const {
    const std::int64_t at = firstLane * plan.groups + firstGroup * lanes;
    kernels.expand(format,
                   reinterpret_cast<const std::uint8_t*>(operand.elements.data()) + at * kGroup,
                   reinterpret_cast<const float*>(operand.scales.data()) + at, lanes, groups, out);
  }
  const float* factors(const PackedOperand& operand, std::int64_t block, std::int64_t row) const {
    return operand.factors.empty() ? ones.data() + row
                                   : operand.factors.data() + block * operand.paddedRows + row;
  }
  void tiles(const SumsBlock& block) const;
  void column(FloatTileArguments tile, std::int64_t firstGroup, const SumsBlock& block,
              std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t panel, int count,
              const std::byte* expanded) const;
  void expandFewRows();
  void direct(const SumsBlock& block) const;
};

/// The number of groups of K that are multiplied at a time, so that a tile's panels fill L1. The
/// chunk does not cut a block of f32 scales.
std::int64_t FloatProduct::chunk() const {
  static const long level1 = std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 32768L);
  const std::int64_t fitting =
      std::max<std::int64_t>(1, level1 / (kernels.panels * kPanelColumns * laneBytes()));
  if (plan.groupsInBlock < plan.groups)
    return std::max<std::int64_t>(1, fitting / plan.groupsInBlock) * plan.groupsInBlock;
  const std::int64_t chunks = (plan.groups + fitting - 1) / fitting;
  return (plan.groups + chunks - 1) / chunks;
}

void FloatProduct::tiles(const SumsBlock& block) const {
  thread_local PackedBytes rowsOfChunk, panelsOfChunk;
  const std::int64_t step = chunk();
  const bool cuts = plan.groupsInBlock < plan.groups;
  auto reserve = [](PackedBytes& bytes, std::int64_t size) {
    if (bytes.size() < static_cast<std::size_t>(size))
      bytes = PackedBytes(static_cast<std::size_t>(size));
    return bytes.data();
  };
  const std::int64_t panelBegin = block.columnBegin / kPanelColumns;
  const std::int64_t panelEnd = (block.columnEnd + kPanelColumns - 1) / kPanelColumns;
  const std::int64_t strip = std::min(stripRows, block.rowEnd - block.rowBegin);
  std::byte* rows = leftAsValues() ? nullptr : reserve(rowsOfChunk, strip * step * laneBytes());
  const std::int64_t panelBytes = step * kPanelColumns * laneBytes();
  std::byte* expandedPanels =
      rightAsValues() ? nullptr : reserve(panelsOfChunk, (panelEnd - panelBegin) * panelBytes);
  const Tiling tiling{left.rows, kernels.tallest};
  for (std::int64_t first = 0; first < plan.groups; first += step) {
    FloatTileArguments tile{};
    tile.groups = std::min(step, plan.groups - first);
    tile.startFromC = !cuts && first != 0;
    tile.addToC = cuts && first != 0;
    for (std::int64_t rowBegin = block.rowBegin; rowBegin < block.rowEnd; rowBegin += stripRows) {
      const std::int64_t rowEnd = std::min(rowBegin + stripRows, block.rowEnd);
      for (std::int64_t row = rowBegin; row < rowEnd && !leftAsValues();) {
        const int height = tiling.tileOf(row).height;
        expand(leftFormat, left, row, height, first, tile.groups,
               rows + (row - rowBegin) * tile.groups * laneBytes());
        row += height;
      }
      for (std::int64_t panel = panelBegin; panel < panelEnd; panel += kernels.panels) {
        const int count =
            static_cast<int>(std::min<std::int64_t>(kernels.panels, panelEnd - panel));
        if (rightAsValues()) {
          tile.right = values(right, panel * kPanelColumns, kPanelColumns, first);
          tile.rightStride = plan.groups * kPanelColumns * laneBytes();
        } else {
          std::byte* expanded = expandedPanels + (panel - panelBegin) * panelBytes;
          for (int p = 0; p < count && rowBegin == block.rowBegin; ++p)
            expand(rightFormat, right, (panel + p) * kPanelColumns, kPanelColumns, first,
                   tile.groups, expanded + p * panelBytes);
          tile.right = expanded;
          tile.rightStride = panelBytes;
        }
        column(tile, first, block, rowBegin, rowEnd, panel, count, rows);
      }
    }
  }
}

void FloatProduct::column(FloatTileArguments tile, std::int64_t firstGroup, const SumsBlock& block,
                          std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t panel, int count,
                          const std::byte* expanded) const {
  const std::int64_t width =
      std::min<std::int64_t>(count * kPanelColumns, columns - panel * kPanelColumns);
  alignas(64) float edge[kTileRows * kMaxPanels * kPanelColumns];
  // The blocks of f32 scales are added in a buffer of the tile, not in C: the rows of C are often a
  // multiple of 4 KiB apart, so stores and loads would falsely alias.
  alignas(64) float sums[kTileRows * kMaxPanels * kPanelColumns];
  tile.sums = sums;
  const bool cuts = plan.groupsInBlock < plan.groups;
  const bool inPlace = width == count * kPanelColumns;
  const bool scaleNow = hasFactors && (cuts || firstGroup + tile.groups == plan.groups);
  const std::int64_t firstBlock = firstGroup / plan.groupsInBlock;
  tile.groupsInSum = cuts ? plan.groupsInBlock : tile.groups;
  tile.rowFactorStride = left.factors.empty() ? 0 : left.paddedRows;
  tile.columnFactorStride = right.factors.empty() ? 0 : right.paddedRows;
  tile.leftStride = tile.groups * laneBytes();
  const auto runAt = [&](FloatTile* run, std::int64_t row, int height) {
    float* corner = block.at(row, panel * kPanelColumns);
    tile.left = leftAsValues() ? values(left, row, height, firstGroup)
                               : expanded + (row - rowBegin) * tile.groups * laneBytes();
    tile.rows = height;
    tile.c = inPlace ? corner : edge;
    tile.stride = inPlace ? block.stride : kMaxPanels * kPanelColumns;
    if (!inPlace && (tile.startFromC || tile.addToC))
      for (int i = 0; i < height; ++i)
        copyColumns(corner + i * block.stride, width, edge + i * tile.stride);
    for (int i = height; i < 2 * height && row + i < rowEnd; ++i)
      for (std::int64_t n = 0; n < width; n += 16)
        __builtin_prefetch(corner + i * block.stride + n, 1);
    tile.next = tile.left + height * tile.groups * laneBytes();
    if (scaleNow) {
      tile.columnFactors = factors(right, firstBlock, panel * kPanelColumns);
      tile.rowFactors = factors(left, firstBlock, row);
    }
    run(tile);
    if (!inPlace)
      for (int i = 0; i < height; ++i)
        copyColumns(edge + i * tile.stride, width, corner + i * block.stride);
  };
  std::int64_t row = rowBegin;
  if (FloatTile* const run = kernels.ofRows[count - 1]) {
    for (; row < rowEnd; row += kTileRows)
      runAt(run, row, static_cast<int>(std::min<std::int64_t>(kTileRows, rowEnd - row)));
    return;
  }
  for (int h = 0; h < kHeights; ++h) {
    const int height = kTileHeights[h];
    if (height > kernels.tallest)
      continue;
    for (; row + height <= rowEnd; row += height)
      runAt(kernels.tiles[h][count - 1], row, height);
  }
}

/// Multiplies few expanded rows by panels from memory.
void FloatProduct::direct(const SumsBlock& block) const {
  const auto rows = static_cast<int>(left.rows);
  for (std::int64_t column = block.columnBegin; column < block.columnEnd; column += kPanelColumns) {
    const std::int64_t panel = column / kPanelColumns;
    const std::int64_t width = std::min<std::int64_t>(kPanelColumns, columns - column);
    float sums[kMostDirectRows * kPanelColumns] = {}, terms[kMostDirectRows * kPanelColumns];
    for (std::int64_t first = 0, b = 0; first < plan.groups; first += plan.groupsInBlock, ++b) {
      const std::int64_t at = (panel * plan.groups + first) * kPanelColumns;
      const FloatDirectArguments arguments{
          .left = fewRows.data() + first * laneBytes(),
          .leftStride = plan.groups * laneBytes(),
          .rows = rows,
          .format = &rightFormat,
          .codes = reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                   at * kGroup * (rightAsValues() ? 4 : 1),
          .scales =
              rightAsValues() ? nullptr : reinterpret_cast<const float*>(right.scales.data()) + at,
          .groups = std::min(plan.groupsInBlock, plan.groups - first),
          .sums = terms};
      if (rightAsValues())
        kernels.directValues(arguments);
      else
        kernels.direct(arguments);
      for (int row = 0; row < rows; ++row) {
        float* term = terms + row * kPanelColumns;
        if (hasFactors) {
          const float rowFactor = *factors(left, b, row);
          const float* columnFactors = factors(right, b, panel * kPanelColumns);
          for (int n = 0; n < kPanelColumns; ++n)
            term[n] *= rowFactor * columnFactors[n];
        }
        for (int n = 0; n < kPanelColumns; ++n)
          sums[row * kPanelColumns + n] += term[n];
      }
    }
    for (int row = 0; row < rows; ++row)
      copyColumns(sums + row * kPanelColumns, width, block.at(row, column));
  }
}

void FloatProduct::expandFewRows() {
  const std::int64_t steps = plan.groups * kernels.groupSteps;
  fewRows = ThreadVector<std::byte>(static_cast<std::size_t>(left.rows * steps * 4));
  auto* to = reinterpret_cast<float*>(fewRows.data());
  ThreadVector<std::byte> expanded(
      static_cast<std::size_t>(leftAsValues() ? 0 : kernels.tallest * steps * 4));
  const Tiling tiling{left.rows, kernels.tallest};
  for (std::int64_t row = 0; row < left.rows;) {
    const int height = tiling.tileOf(row).height;
    if (kernels.ofRows[0]) {
      expand(leftFormat, left, row, height, 0, plan.groups, fewRows.data() + row * steps * 4);
      row += height;
      continue;
    }
    const std::byte* tile = values(left, row, height, 0);
    if (!leftAsValues()) {
      expand(leftFormat, left, row, height, 0, plan.groups, expanded.data());
      tile = expanded.data();
    }
    const auto* from = reinterpret_cast<const float*>(tile);
    for (int i = 0; i < height; ++i)
      for (std::int64_t step = 0; step < steps; ++step)
        to[(row + i) * steps + step] = from[step * height + i];
    row += height;
  }
}

FloatProduct::FloatProduct(const ProductPlan& plan, const PackedOperand& left,
                           const PackedOperand& right, const ProductEpilogue& epilogue,
                           const Execution& execution)
    : plan(plan), left(left), right(right), epilogue(epilogue),
      blockRows(rowsOfTask(left.rows, (execution.threads == 1 ? 8 : 4) * stripRows,
                           std::lcm(kernels.tallest, kTileRows))) {
  if (isDirect)
    expandFewRows();
  const std::int64_t rowBlocks = (left.rows + blockRows - 1) / blockRows;
  const std::int64_t most = isDirect ? kDirectPanels : execution.threads == 1 ? 64 : 32;
  blockPanels = panelsOfTask(panels, most, rowBlocks, threadsOf(execution));
  taskCount = rowBlocks * ((panels + blockPanels - 1) / blockPanels);
}

void FloatProduct::run(std::int64_t task) const {
  const std::int64_t rowBlocks = (left.rows + blockRows - 1) / blockRows;
  const std::int64_t row = task % rowBlocks * blockRows;
  const std::int64_t column = task / rowBlocks * blockPanels * kPanelColumns;
  const SumsBlock block = epilogue.begin(row, std::min(row + blockRows, left.rows), column,
                                         std::min(column + blockPanels * kPanelColumns, columns));
  if (isDirect)
    direct(block);
  else
    tiles(block);
  epilogue.finish(block, inDouble.redo(block, epilogue));
}

} // namespace

std::unique_ptr<ProductWork> floatWork(const ProductPlan& plan, const PackedOperand& left,
                                       const PackedOperand& right, const ProductEpilogue& epilogue,
                                       const Execution& execution) {
  return std::make_unique<FloatProduct>(plan, left, right, epilogue, execution);
}

} // namespace octavo::kernels
