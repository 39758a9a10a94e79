#include "octavo/Kernels/Product/DoubleProduct.h"
#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace octavo::kernels {

/// The fastest finish that is right for the scales of these operands.
static Finish finishOf(const ProductPlan& plan, const PackedOperand& left,
                       const PackedOperand& right) {
  const int least = left.leastExponent + right.leastExponent + plan.quantum;
  const int greatest = left.greatestExponent + right.greatestExponent + plan.quantum;
  // Two significands below 2 have a product below 4, and a sum is below 2^31: no term overflows.
  const bool inRange = std::min(least, right.leastExponent + plan.quantum) >= -126 &&
                       std::max(greatest, right.greatestExponent + plan.quantum) <= 94;
  // For f32 activations, rows and columns beyond the range are far, and are recomputed in f64.
  const bool isFar =
      plan.left.scale != nullptr && (left.hasUnusualScale || right.hasUnusualScale || !inRange);
  if (plan.piecesInSum > 1 || !plan.scaleProductIsExact || isFar)
    return Finish::Doubles;
  const bool powers = (plan.left.scale == nullptr || plan.left.scale->name == "e8m0fnu") &&
                      plan.right.scale->name == "e8m0fnu";
  if (!plan.termIsExact)
    return Finish::Rounded;
  return powers && plan.piece == 32 ? Finish::Exponents : Finish::Floats;
}

namespace {

/// The most full tiles of rows of a product of few rows; with more tiles, decoding separately pays.
constexpr int kDirectTiles = 2;

class IntegerProduct final : public ProductWork {
public:
  IntegerProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
                 const ProductEpilogue& epilogue, const Execution& execution);
  void run(std::int64_t task) const override;

private:
  const ProductPlan& plan;
  const PackedOperand& left;
  const PackedOperand& right;
  const ProductEpilogue& epilogue;

  /// Products without f32 activations need no DoubleProduct: they have the bits of numerics::dot
  /// for all values.
  bool isOfF32 = plan.left.scale == nullptr;
  const DoubleProduct inDouble{plan, left, right, epilogue.outerScales()};
  const ProductKernels& kernels = productKernels(plan.isa);
  Finish finish = finishOf(plan, left, right);
  std::int64_t panels = (right.rows + kPanelColumns - 1) / kPanelColumns;
  std::int64_t columns = right.rows;
  /// Rows of the left operand for each row of C.
  std::int64_t digits = plan.digitRows ? kDigits : 1;
  enum class Route : std::uint8_t { Tiles, Direct, Digits } route;
  /// Of tiles: rows and panels of a task.
  std::int64_t blockRows, blockPanels;

  NibbleKind nibbleKind() const {
    if (plan.piece == 16)
      return right.scaleCodes == ScaleCodes::E4M3 ? NibbleKind::E4M3By16 : NibbleKind::E8M0By16;
    return finish == Finish::Exponents ? NibbleKind::Exponents32 : NibbleKind::Floats32;
  }
  const std::byte* leftTile(std::int64_t row) const {
    return left.elements.data() + row * plan.pieces * leftRecord();
  }
  /// Bytes of a piece of one row.
  std::int64_t leftRecord() const { return std::int64_t{4} * (plan.steps() + 2); }
  std::int64_t rightRecord() const { return std::int64_t{kStepBytes} * (plan.steps() + 1); }
  auto tilesOfPlan() const -> decltype(kernels.tiles[0][0][0])& {
    return kernels.tiles[static_cast<int>(plan.dot)][static_cast<int>(finish)][plan.piece == 32];
  }
  std::int64_t piecesAtOnce(int panelsOfTile) const;
  int columnsOf(std::int64_t panel) const {
    return static_cast<int>(std::min<std::int64_t>(kPanelColumns, columns - panel * kPanelColumns));
  }

  void direct(const SumsBlock& block) const;
  void directDigits(const SumsBlock& block) const;
  /// The records of `count` panels from `firstPiece` on, unpacked to `scratch` unless the operand
  /// stores records. Panels are plan.pieces records apart in the operand, `pieces` in `scratch`.
  const std::byte* rightRecords(std::int64_t panel, int count, std::int64_t firstPiece,
                                std::int64_t pieces, PackedBytes& scratch) const;
  void tiles(const SumsBlock& block) const;
  void addDigits(const SumsBlock& block) const;
  void column(TileArguments tile, std::int64_t firstPiece, const SumsBlock& block,
              std::int64_t panel, int count) const;
};

/// Multiplies few rows by 4-bit storage. The first tile reads a panel from memory and decodes it.
/// If there are more tiles, it leaves the decoded panel in L1 for them, a chunk of K at a time.
void IntegerProduct::direct(const SumsBlock& block) const {
  const Tiling tiling{left.rows, kernels.tallest};
  const int firstHeight = tiling.tileOf(0).height;
  const bool isOneTile = firstHeight == left.rows;
  const int kind = static_cast<int>(nibbleKind());
  const auto& byDot = isOneTile ? kernels.direct : kernels.directAndExpand;
  Direct* const first = byDot[plan.dot == Dot::BytesWrapped][kind][heightIndex(firstHeight)];
  const auto& table = tilesOfPlan();
  const std::int64_t chunk = isOneTile ? plan.pieces : piecesAtOnce(1);
  thread_local PackedBytes scratch;
  if (!isOneTile && scratch.size() < static_cast<std::size_t>(chunk * rightRecord()))
    scratch = PackedBytes(static_cast<std::size_t>(chunk * rightRecord()));
  for (std::int64_t column = block.columnBegin; column < block.columnEnd; column += kPanelColumns) {
    const std::int64_t panel = column / kPanelColumns;
    alignas(64) float sums[kDirectTiles * 6 * kPanelColumns] = {};
    for (std::int64_t piece = 0; piece < plan.pieces; piece += chunk) {
      const std::int64_t pieces = std::min(chunk, plan.pieces - piece);
      const std::int64_t at = panel * plan.pieces + piece;
      first({.left = leftTile(0) + piece * firstHeight * leftRecord(),
             .elements = reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                         at * plan.piece / 32 * 4 * kStepBytes,
             .scales =
                 reinterpret_cast<const std::uint8_t*>(right.scales.data()) + at * kPanelColumns,
             .groups = pieces * plan.piece / 32,
             .c = sums,
             .stride = kPanelColumns,
             .quantum = plan.quantum,
             .records = scratch.data()});
      for (std::int64_t row = firstHeight; row < left.rows;) {
        const int height = tiling.tileOf(row).height;
        const std::byte* tile = leftTile(row) + piece * height * leftRecord();
        table[heightIndex(height)][0]({.left = tile,
                                       .next = tile + pieces * height * leftRecord(),
                                       .right = scratch.data(),
                                       .rightStride = 0,
                                       .records = pieces,
                                       .recordsInSum = 1,
                                       .c = sums + row * kPanelColumns,
                                       .fresh = false,
                                       .stride = kPanelColumns,
                                       .quantum = plan.quantum});
        row += height;
      }
    }
    for (std::int64_t row = 0; row < left.rows; ++row)
      copyColumns(sums + row * kPanelColumns, columnsOf(panel), block.at(row, column));
  }
}

/// Multiplies f32 activations by 4-bit storage, some rows at a time; the first rows bring a panel
/// from memory.
void IntegerProduct::directDigits(const SumsBlock& block) const {
  const std::int64_t groups = plan.pieces * plan.piece / 32;
  const std::int64_t leftRow = plan.pieces * 4 * (plan.steps() * kDigits + 2);
  const auto& direct = kernels.directDigits[static_cast<int>(nibbleKind())];
  for (std::int64_t column = block.columnBegin; column < block.columnEnd; column += kPanelColumns) {
    const std::int64_t panel = column / kPanelColumns;
    for (std::int64_t row = 0; row < left.rows;) {
      const bool isSome = direct[1] != nullptr && left.rows - row >= kDigitRows;
      const int height = isSome ? kDigitRows : 1;
      float sums[kDigitRows * kPanelColumns] = {};
      direct[isSome]({.left = left.elements.data() + row * leftRow,
                      .elements = reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                                  panel * groups * 4 * kStepBytes,
                      .scales = reinterpret_cast<const std::uint8_t*>(right.scales.data()) +
                                panel * plan.pieces * kPanelColumns,
                      .groups = groups,
                      .c = sums,
                      .stride = kPanelColumns,
                      .quantum = plan.quantum});
      for (int i = 0; i < height; ++i)
        copyColumns(sums + i * kPanelColumns, columnsOf(panel), block.at(row + i, column));
      row += height;
    }
  }
}

const std::byte* IntegerProduct::rightRecords(std::int64_t panel, int count,
                                              std::int64_t firstPiece, std::int64_t pieces,
                                              PackedBytes& scratch) const {
  if (right.storage == PackedOperand::Storage::Records)
    return right.elements.data() + (panel * plan.pieces + firstPiece) * rightRecord();
  const std::int64_t panelBytes = pieces * rightRecord();
  if (scratch.size() < static_cast<std::size_t>(count * panelBytes))
    scratch = PackedBytes(static_cast<std::size_t>(count * panelBytes));
  const int piecesInGroup = 32 / plan.piece;
  for (int i = 0; i < count; ++i) {
    const std::int64_t group = ((panel + i) * plan.pieces + firstPiece) / piecesInGroup;
    kernels.expand[piecesInGroup - 1][static_cast<int>(right.scaleCodes)](
        reinterpret_cast<const std::uint8_t*>(right.elements.data()) + group * 4 * kStepBytes,
        reinterpret_cast<const std::uint8_t*>(right.scales.data()) +
            group * piecesInGroup * kPanelColumns,
        pieces / piecesInGroup, scratch.data() + i * panelBytes);
  }
  return scratch.data();
}

/// A chunk of K for which a tile's panels fill three quarters of L1. It cuts neither a sum nor a
/// group of 32.
std::int64_t IntegerProduct::piecesAtOnce(int panelsOfTile) const {
  static const long level1 = std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 32768L);
  const std::int64_t unit = std::max<std::int64_t>(plan.piecesInSum, 32 / plan.piece);
  const std::int64_t units = (plan.pieces + unit - 1) / unit;
  const std::int64_t fitting =
      std::max<std::int64_t>(1, level1 * 3 / 4 / (panelsOfTile * unit * rightRecord()));
  const std::int64_t chunks = (units + fitting - 1) / fitting;
  return (units + chunks - 1) / chunks * unit;
}

void IntegerProduct::tiles(const SumsBlock& block) const {
  const int panelsOfTile = finish == Finish::Doubles ? 1 : kernels.panels;
  const std::int64_t chunk = piecesAtOnce(panelsOfTile);
  thread_local PackedBytes scratch;
  const std::int64_t panelBegin = block.columnBegin / kPanelColumns;
  const std::int64_t panelEnd = (block.columnEnd + kPanelColumns - 1) / kPanelColumns;
  for (std::int64_t first = 0; first < plan.pieces; first += chunk) {
    const std::int64_t pieces = std::min(chunk, plan.pieces - first);
    for (std::int64_t panel = panelBegin; panel < panelEnd; panel += panelsOfTile) {
      const int count = static_cast<int>(std::min<std::int64_t>(panelsOfTile, panelEnd - panel));
      TileArguments tile{};
      tile.right = rightRecords(panel, count, first, pieces, scratch);
      tile.rightStride =
          (right.storage == PackedOperand::Storage::Records ? plan.pieces : pieces) * rightRecord();
      tile.records = pieces;
      tile.recordsInSum = plan.piecesInSum;
      tile.quantum = plan.quantum;
      tile.fresh = first == 0;
      column(tile, first, block, panel, count);
    }
  }
}

/// Runs the tiles of `count` panels, from the first rows to the last.
void IntegerProduct::column(TileArguments tile, std::int64_t firstPiece, const SumsBlock& block,
                            std::int64_t panel, int count) const {
  const auto& table = tilesOfPlan();
  const std::int64_t width =
      std::min<std::int64_t>(count * kPanelColumns, columns - panel * kPanelColumns);
  // A separate buffer receives columns beyond C's last column, and sums that are kept in memory:
  // rows of C are often a multiple of 4 KiB apart, so stores and loads would falsely alias.
  alignas(64) float edge[6 * kMaxPanels * kPanelColumns];
  const bool inPlace = width == count * kPanelColumns && kernels.sumsInRegisters;
  std::int64_t row = block.rowBegin;
  for (int height : kTileHeights) {
    if (height > kernels.tallest)
      continue;
    Tile* const run = table[heightIndex(height)][count - 1];
    const std::int64_t leftFirst = firstPiece * height * leftRecord();
    for (; row + height <= block.rowEnd; row += height) {
      float* corner = block.at(row, panel * kPanelColumns);
      tile.left = leftTile(row) + leftFirst;
      tile.next = leftTile(row + height) + leftFirst;
      tile.c = inPlace ? corner : edge;
      tile.stride = inPlace ? block.stride : kMaxPanels * kPanelColumns;
      if (!inPlace && !tile.fresh)
        for (int i = 0; i < height; ++i)
          copyColumns(corner + i * block.stride, width, edge + i * tile.stride);
      // Prefetches the next tile's part of C, which was evicted since the last chunk of K.
      for (int i = height; i < 2 * height && row + i < block.rowEnd; ++i)
        for (std::int64_t n = 0; n < width; n += 16)
          __builtin_prefetch(corner + i * block.stride + n, 1);
      run(tile);
      if (!inPlace)
        for (int i = 0; i < height; ++i)
          copyColumns(edge + i * tile.stride, width, corner + i * block.stride);
    }
  }
}

/// Adds the sums of the digits, each a separate product, from the greatest digit on.
void IntegerProduct::addDigits(const SumsBlock& block) const {
  thread_local PackedBytes memory;
  SumsBlock sums{block.rowBegin * kDigits,
                 block.rowEnd * kDigits,
                 block.columnBegin,
                 block.columnEnd,
                 nullptr,
                 (block.columnEnd - block.columnBegin + 15) / 16 * 16 + 16};
  const auto bytes = static_cast<std::size_t>((sums.rowEnd - sums.rowBegin) * sums.stride) * 4;
  if (memory.size() < bytes)
    memory = PackedBytes(bytes);
  sums.sums = reinterpret_cast<float*>(memory.data());
  tiles(sums);
  for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row) {
    const float* digit = sums.at(row * kDigits, block.columnBegin);
    float* to = block.at(row, block.columnBegin);
    for (std::int64_t n = 0; n < block.columnEnd - block.columnBegin; ++n)
      to[n] = (digit[n] + digit[sums.stride + n]) + digit[2 * sums.stride + n];
  }
}

IntegerProduct::IntegerProduct(const ProductPlan& plan, const PackedOperand& left,
                               const PackedOperand& right, const ProductEpilogue& epilogue,
                               const Execution& execution)
    : plan(plan), left(left), right(right), epilogue(epilogue) {
  if (left.storage == PackedOperand::Storage::Digits)
    route = Route::Digits;
  else if (left.rows <= kernels.tallest * kDirectTiles && !plan.digitRows &&
           right.storage == PackedOperand::Storage::Nibbles && finish <= Finish::Floats)
    route = Route::Direct;
  else
    route = Route::Tiles;
  // Of tiles: as large as keeps a block's rows' chunk of K in half of L2.
  blockRows = route == Route::Tiles
                  ? rowsOfTask(left.rows, kernels.tallest * 48 / digits, kernels.tallest)
                  : std::max<std::int64_t>(1, left.rows);
  const std::int64_t rowBlocks = (left.rows + blockRows - 1) / blockRows;
  blockPanels = panelsOfTask(panels, route == Route::Tiles ? 16 : kDirectPanels, rowBlocks,
                             threadsOf(execution));
  taskCount = rowBlocks * ((panels + blockPanels - 1) / blockPanels);
}

void IntegerProduct::run(std::int64_t task) const {
  const std::int64_t rowBlocks = (left.rows + blockRows - 1) / blockRows;
  const std::int64_t row = task % rowBlocks * blockRows;
  const std::int64_t column = task / rowBlocks * blockPanels * kPanelColumns;
  const SumsBlock block = epilogue.begin(row, std::min(row + blockRows, left.rows), column,
                                         std::min(column + blockPanels * kPanelColumns, columns));
  if (route == Route::Digits)
    directDigits(block);
  else if (route == Route::Direct)
    direct(block);
  else if (!plan.digitRows)
    tiles(block);
  else
    addDigits(block);
  epilogue.finish(block, isOfF32 && inDouble.redo(block, epilogue));
}

} // namespace

std::unique_ptr<ProductWork> integerWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue,
                                         const Execution& execution) {
  return std::make_unique<IntegerProduct>(plan, left, right, epilogue, execution);
}

} // namespace octavo::kernels
