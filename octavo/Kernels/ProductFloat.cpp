#include "octavo/Kernels/ProductFloat.h"

#include "octavo/Kernels/ProductWork.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <unistd.h>

namespace octavo::kernels {

namespace portable {
extern const FloatKernels kFloatProducts;
}
#if defined(__x86_64__)
namespace avx2 {
extern const FloatKernels kFloatProducts;
}
namespace avx512 {
extern const FloatKernels kFloatProducts;
}
namespace avx512bf16 {
extern const FloatKernels kFloatProducts;
}
#endif

const FloatKernels& floatKernels(Isa isa) {
  assert(!whyNot(isa));
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return avx2::kFloatProducts;
  case Isa::Avx512:
    return __builtin_cpu_supports("avx512bf16") ? avx512bf16::kFloatProducts
                                                : avx512::kFloatProducts;
#endif
  default:
    return portable::kFloatProducts;
  }
}

bool usesBf16(Isa isa) { return floatKernels(isa).bf16; }

namespace {

/// Greatest distance of a row's exponents from 0 for which it is packed as it is. Products of two
/// such rows, and their sums, are far from both ends of f32.
constexpr int kFarExponent = 60;

FloatFormat floatFormat(const ElementFormat& element) {
  FloatFormat format{};
  format.shift = static_cast<std::uint32_t>(23 - element.trailingSignificandBits);
  format.bias = static_cast<std::uint32_t>(127 - element.bias) << 23;
  format.subnormals = 1u << element.trailingSignificandBits;
  format.special = element.hasInf() || element.nanCode()
                       ? static_cast<std::uint32_t>(element.maxCode()) + 1
                       : 0x80;
  format.quantum = std::ldexp(1.0f, element.quantumExponent());
  for (std::uint32_t magnitude = 0; magnitude < element.signMask(); ++magnitude) {
    const auto value = static_cast<float>(numerics::decode(element, magnitude));
    const auto bits = std::bit_cast<std::uint32_t>(value);
    format.low[magnitude] = static_cast<std::uint8_t>(bits >> 16);
    format.high[magnitude] = static_cast<std::uint8_t>(bits >> 24);
  }
  return format;
}

/// Where the rows of an operand lie: in tiles on the left, in panels on the right.
struct Lanes {
  std::int64_t first;
  int count;
};

class FloatPacking {
public:
  FloatPacking(const ScaledView& matrix, Side side, const ProductPlan& plan)
      : matrix(matrix), plan(plan), side(side), element(*matrix.element), scale(*matrix.scale),
        across(matrix.across), along(matrix.along),
        grid(plan.depth / along + (plan.depth % along != 0)), tiling{
                                                                  matrix.rows,
                                                                  floatKernels(plan.isa).tallest} {
    for (std::uint32_t code = 0; code < 256; ++code) {
      const std::uint32_t sign = (code & element.signMask()) ? 0x80 : 0;
      signAndMagnitude[code] = static_cast<std::uint8_t>(sign | (code & (element.signMask() - 1)));
    }
    if (scale.width() <= 8)
      for (std::uint32_t code = 0; code < 256; ++code)
        scaleValues[code] = static_cast<float>(numerics::decode(scale, code));
    isFolded = scale.name != "f32";
  }

  PackedOperand run(const Execution& execution) {
    const std::int64_t rows = matrix.rows;
    PackedOperand packed{.side = side, .storage = PackedOperand::Storage::Codes};
    packed.rows = rows;
    packed.paddedRows = (rows + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
    const auto stored = static_cast<std::size_t>(side == Side::Left ? rows : packed.paddedRows);
    packed.elements = PackedBytes(stored * static_cast<std::size_t>(plan.groups) * kGroup);
    packed.scales = PackedBytes(stored * static_cast<std::size_t>(plan.groups) * sizeof(float));
    if (!isFolded)
      packed.factors.assign(static_cast<std::size_t>(blocks() * packed.paddedRows), 0.0f);
    std::vector<std::int16_t> shifts(static_cast<std::size_t>(rows), 0);
    forRanges(static_cast<std::size_t>(rows), 64, execution,
              [&](std::size_t begin, std::size_t end) {
                for (auto row = static_cast<std::int64_t>(begin);
                     row < static_cast<std::int64_t>(end); ++row)
                  shifts[row] = packRow(row, packed);
              });
    if (std::ranges::any_of(shifts, [](std::int16_t shift) { return shift != 0; }))
      packed.shifts = std::move(shifts);
    packed.outer = matrix.outer;
    return packed;
  }

private:
  std::int64_t blocks() const {
    return (plan.groups + plan.groupsInBlock - 1) / plan.groupsInBlock;
  }
  Lanes lanesOf(std::int64_t row) const {
    if (side == Side::Right)
      return {row / kPanelColumns * kPanelColumns, kPanelColumns};
    const Tiling::Tile tile = tiling.tileOf(row);
    return {tile.first, tile.height};
  }
  float scaleAt(std::int64_t row, std::int64_t group) const {
    const std::int64_t at = row / across * grid + group * kGroup / along;
    const std::uint32_t code = matrix.scaleBytes == 1
                                   ? static_cast<const std::uint8_t*>(matrix.scales)[at]
                                   : static_cast<const std::uint32_t*>(matrix.scales)[at];
    return scale.width() <= 8 ? scaleValues[code] : std::bit_cast<float>(code);
  }

  /// Packs one row; its shift.
  std::int16_t packRow(std::int64_t row, PackedOperand& packed) const {
    const Lanes lanes = lanesOf(row);
    const std::int64_t lane = row - lanes.first;
    const std::uint8_t* codes = matrix.elements + row * plan.depth;
    std::byte* to = packed.elements.data() + lanes.first * plan.groups * kGroup + lane * 4;
    int least = std::numeric_limits<int>::max(), greatest = std::numeric_limits<int>::min();
    std::byte* scales = packed.scales.data() + lanes.first * plan.groups * 4 + lane * 4;
    for (std::int64_t g = 0; g < plan.groups; ++g, to += 4 * 8 * lanes.count) {
      std::uint8_t bytes[kGroup] = {};
      const auto size = static_cast<int>(std::min<std::int64_t>(kGroup, plan.depth - g * kGroup));
      std::memcpy(bytes, codes + g * kGroup, static_cast<std::size_t>(size));
      if (element.width() < 8)
        for (std::uint8_t& byte : bytes)
          byte = signAndMagnitude[byte];
      std::uint64_t any = 0;
      for (int s = 0; s < kGroup; s += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, bytes + s, 8);
        any |= eight & 0x7F7F7F7F7F7F7F7F;
      }
      for (int s = 0; s < 8; ++s)
        std::memcpy(to + std::int64_t{4} * s * lanes.count, bytes + 4 * s, 4);
      float value = isFolded ? scaleAt(row, g) : 1.0f;
      if (any == 0 && std::isfinite(value))
        value = 1; // a zero block takes any scale
      else if (std::isfinite(value) && value != 0) {
        const int exponent = std::ilogb(value);
        least = std::min(least, exponent);
        greatest = std::max(greatest, exponent);
      }
      std::memcpy(scales + g * lanes.count * 4, &value, 4);
    }
    if (!isFolded)
      for (std::int64_t b = 0; b < blocks(); ++b)
        packed.factors[b * packed.paddedRows + row] = scaleAt(row, b * plan.groupsInBlock);
    if (least > greatest || (least + element.quantumExponent() >= -kFarExponent &&
                             greatest + element.emax() <= kFarExponent))
      return 0;
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      float value;
      std::memcpy(&value, scales + g * lanes.count * 4, 4);
      value = std::ldexp(value, -greatest);
      std::memcpy(scales + g * lanes.count * 4, &value, 4);
    }
    return static_cast<std::int16_t>(greatest);
  }

  const ScaledView& matrix;
  const ProductPlan& plan;
  Side side;
  const ElementFormat& element;
  const ElementFormat& scale;
  std::int64_t across, along, grid;
  Tiling tiling;
  bool isFolded;
  std::array<std::uint8_t, 256> signAndMagnitude;
  std::array<float, 256> scaleValues{};
};

class FloatProduct final : public ProductWork {
public:
  FloatProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
               const ProductEpilogue& epilogue);
  void run(std::int64_t task) const override;

private:
  const ProductPlan& plan;
  const PackedOperand& left;
  const PackedOperand& right;
  const ProductEpilogue& epilogue;
  const FloatKernels& kernels = floatKernels(plan.isa);
  FloatFormat leftFormat = floatFormat(*plan.left.element);
  FloatFormat rightFormat = floatFormat(*plan.right.element);
  std::int64_t columns = right.rows;
  std::int64_t panels = right.paddedRows / kPanelColumns;
  /// Rows of C whose expanded chunk of K is a third of L2.
  std::int64_t blockRows = kernels.bf16 ? 192 : 96;
  std::int64_t blockPanels = 32;
  bool hasFactors = !left.factors.empty() || !right.factors.empty();
  std::vector<float> ones = std::vector<float>(
      static_cast<std::size_t>(std::max(left.paddedRows, right.paddedRows)), 1.0f);
  PackedBytes onlyRow; ///< of the left operand, expanded

  std::int64_t laneBytes() const { return std::int64_t{4} * kernels.groupSteps; }
  std::int64_t chunk() const;
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
  void column(FloatTileArguments tile, std::int64_t firstGroup, std::int64_t groups,
              const SumsBlock& block, std::int64_t panel, int count,
              const std::byte* expanded) const;
  void direct(const SumsBlock& block) const;
  void undoShifts(const SumsBlock& block) const;
};

/// Groups of K that are multiplied at once: a tile's panels lie in three quarters of L1. It does
/// not cut a block of f32 scales.
std::int64_t FloatProduct::chunk() const {
  static const long level1 = std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 32768L);
  if (plan.groupsInBlock < plan.groups)
    return plan.groupsInBlock;
  const std::int64_t fitting =
      std::max<std::int64_t>(1, level1 * 3 / 4 / (kernels.panels * kPanelColumns * laneBytes()));
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
  std::byte* rows = reserve(rowsOfChunk, blockRows * step * laneBytes());
  const std::int64_t panelBytes = step * kPanelColumns * laneBytes();
  std::byte* columnsOfTile = reserve(panelsOfChunk, kernels.panels * panelBytes);
  const Tiling tiling{left.rows, kernels.tallest};
  const std::int64_t panelBegin = block.columnBegin / kPanelColumns;
  const std::int64_t panelEnd = (block.columnEnd + kPanelColumns - 1) / kPanelColumns;
  for (std::int64_t first = 0; first < plan.groups; first += step) {
    const std::int64_t groups = std::min(step, plan.groups - first);
    for (std::int64_t row = block.rowBegin; row < block.rowEnd;) {
      const int height = tiling.tileOf(row).height;
      expand(leftFormat, left, row, height, first, groups,
             rows + (row - block.rowBegin) * groups * laneBytes());
      row += height;
    }
    FloatTileArguments tile{};
    tile.groups = groups;
    tile.startFromC = !cuts && first != 0;
    tile.addToC = cuts && first != 0;
    for (std::int64_t panel = panelBegin; panel < panelEnd; panel += kernels.panels) {
      const int count = static_cast<int>(std::min<std::int64_t>(kernels.panels, panelEnd - panel));
      for (int p = 0; p < count; ++p)
        expand(rightFormat, right, (panel + p) * kPanelColumns, kPanelColumns, first, groups,
               columnsOfTile + p * panelBytes);
      tile.right = columnsOfTile;
      tile.rightStride = panelBytes;
      column(tile, first, groups, block, panel, count, rows);
    }
  }
}

void FloatProduct::column(FloatTileArguments tile, std::int64_t firstGroup, std::int64_t groups,
                          const SumsBlock& block, std::int64_t panel, int count,
                          const std::byte* expanded) const {
  const std::int64_t width =
      std::min<std::int64_t>(count * kPanelColumns, columns - panel * kPanelColumns);
  alignas(64) float edge[6 * kMaxPanels * kPanelColumns];
  const bool inPlace = width == count * kPanelColumns;
  const bool scaleNow =
      hasFactors && (plan.groupsInBlock < plan.groups || firstGroup + groups == plan.groups);
  const std::int64_t scales = firstGroup / plan.groupsInBlock;
  if (scaleNow)
    tile.columnFactors = factors(right, scales, panel * kPanelColumns);
  std::int64_t row = block.rowBegin;
  for (int h = 0; h < kHeights; ++h) {
    const int height = kTileHeights[h];
    if (height > kernels.tallest)
      continue;
    FloatTile* const run = kernels.tiles[h][count - 1];
    for (; row + height <= block.rowEnd; row += height) {
      float* corner = block.at(row, panel * kPanelColumns);
      tile.left = expanded + (row - block.rowBegin) * groups * laneBytes();
      tile.next = tile.left + height * groups * laneBytes();
      tile.c = inPlace ? corner : edge;
      tile.stride = inPlace ? block.stride : kMaxPanels * kPanelColumns;
      if (scaleNow)
        tile.rowFactors = factors(left, scales, row);
      if (!inPlace && (tile.startFromC || tile.addToC))
        for (int i = 0; i < height; ++i)
          std::copy_n(corner + i * block.stride, width, edge + i * tile.stride);
      for (int i = height; i < 2 * height && row + i < block.rowEnd; ++i)
        for (std::int64_t n = 0; n < width; n += 16)
          __builtin_prefetch(corner + i * block.stride + n, 1);
      run(tile);
      if (!inPlace)
        for (int i = 0; i < height; ++i)
          std::copy_n(edge + i * tile.stride, width, corner + i * block.stride);
    }
  }
}

/// One row, expanded, against panels from memory.
void FloatProduct::direct(const SumsBlock& block) const {
  for (std::int64_t column = block.columnBegin; column < block.columnEnd; column += kPanelColumns) {
    const std::int64_t panel = column / kPanelColumns;
    float sums[kPanelColumns] = {};
    for (std::int64_t first = 0, b = 0; first < plan.groups; first += plan.groupsInBlock, ++b) {
      float terms[kPanelColumns];
      const std::int64_t at = (panel * plan.groups + first) * kPanelColumns;
      kernels.direct(
          {.left = onlyRow.data() + first * laneBytes(),
           .format = &rightFormat,
           .codes = reinterpret_cast<const std::uint8_t*>(right.elements.data()) + at * kGroup,
           .scales = reinterpret_cast<const float*>(right.scales.data()) + at,
           .groups = std::min(plan.groupsInBlock, plan.groups - first),
           .sums = terms});
      if (hasFactors) {
        const float rowFactor = *factors(left, b, 0);
        const float* columnFactors = factors(right, b, panel * kPanelColumns);
        for (int n = 0; n < kPanelColumns; ++n)
          terms[n] *= rowFactor * columnFactors[n];
      }
      for (int n = 0; n < kPanelColumns; ++n)
        sums[n] += terms[n];
    }
    std::copy_n(sums, std::min<std::int64_t>(kPanelColumns, columns - column), block.at(0, column));
  }
}

/// Rows packed relative to a power of two: through f64, rounded once.
void FloatProduct::undoShifts(const SumsBlock& block) const {
  if (left.shifts.empty() && right.shifts.empty())
    return;
  for (std::int64_t m = block.rowBegin; m < block.rowEnd; ++m)
    for (std::int64_t n = block.columnBegin; n < block.columnEnd; ++n) {
      const int shift =
          (left.shifts.empty() ? 0 : left.shifts[m]) + (right.shifts.empty() ? 0 : right.shifts[n]);
      float* value = block.at(m, n);
      *value = static_cast<float>(std::ldexp(static_cast<double>(*value), shift));
    }
}

FloatProduct::FloatProduct(const ProductPlan& plan, const PackedOperand& left,
                           const PackedOperand& right, const ProductEpilogue& epilogue)
    : plan(plan), left(left), right(right), epilogue(epilogue) {
  if (left.rows == 1) {
    onlyRow = PackedBytes(static_cast<std::size_t>(plan.groups * laneBytes()));
    expand(leftFormat, left, 0, 1, 0, plan.groups, onlyRow.data());
    blockPanels = kDirectPanels;
  }
  taskCount = (left.rows + blockRows - 1) / blockRows * ((panels + blockPanels - 1) / blockPanels);
}

void FloatProduct::run(std::int64_t task) const {
  const std::int64_t rowBlocks = (left.rows + blockRows - 1) / blockRows;
  const std::int64_t row = task % rowBlocks * blockRows;
  const std::int64_t column = task / rowBlocks * blockPanels * kPanelColumns;
  const SumsBlock block = epilogue.begin(row, std::min(row + blockRows, left.rows), column,
                                         std::min(column + blockPanels * kPanelColumns, columns));
  if (left.rows == 1)
    direct(block);
  else
    tiles(block);
  undoShifts(block);
  epilogue.finish(block);
}

} // namespace

PackedOperand packFloats(const ScaledView& matrix, Side side, const ProductPlan& plan,
                         const Execution& execution) {
  return FloatPacking(matrix, side, plan).run(execution);
}

std::unique_ptr<ProductWork> floatWork(const ProductPlan& plan, const PackedOperand& left,
                                       const PackedOperand& right,
                                       const ProductEpilogue& epilogue) {
  return std::make_unique<FloatProduct>(plan, left, right, epilogue);
}

} // namespace octavo::kernels
