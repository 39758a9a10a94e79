#include "octavo/Kernels/Product.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace octavo::kernels {

namespace portable {
extern const ProductKernels kProducts;
}
#if defined(__x86_64__)
namespace avx2 {
extern const ProductKernels kProducts;
}
namespace avx512 {
extern const ProductKernels kProducts;
}
#endif

const ProductKernels& productKernels(Isa isa) {
  assert(!whyNot(isa));
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return avx2::kProducts;
  case Isa::Avx512:
    return avx512::kProducts;
#endif
  default:
    return portable::kProducts;
  }
}

OperandFormat operandFormat(const format::ScaledFormat& format) {
  return {format.element, format.scale, format.across, format.along};
}

OperandFormat floatOperand() { return {&format::element("f32"), nullptr}; }

/// The greatest magnitude of a format's integers (values over its quantum).
static std::int32_t greatestInteger(const ElementFormat& format) {
  const std::uint64_t code = format.lowestCode() ? *format.lowestCode() : format.maxCode();
  return static_cast<std::int32_t>(
      std::fabs(std::ldexp(numerics::decode(format, code), -format.quantumExponent())));
}

static bool isOneOf(const ElementFormat& format, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, format.name) != names.end();
}

static constexpr std::string_view kMultiplied =
    "multiplied are e2m1fn, e2m3fn, e3m2fn and int8 under scales e8m0fnu, e4m3fn or f32";

tl::expected<ProductPlan, std::string>
productPlan(const OperandFormat& left, const OperandFormat& right, std::int64_t depth, Isa isa) {
  ProductPlan plan{};
  plan.isa = isa;
  plan.left = left;
  plan.right = right;
  plan.depth = depth;
  const bool digits = left.scale == nullptr;
  if (depth <= 0)
    return tl::unexpected(fmt::format("a product along an axis of {} elements", depth));
  for (const OperandFormat* operand : {&left, &right}) {
    if (operand->scale == nullptr && operand == &left && isOneOf(*left.element, {"f32"}))
      continue;
    if (!isOneOf(*operand->element, {"e2m1fn", "e2m3fn", "e3m2fn", "int8"}) ||
        operand->scale == nullptr || !isOneOf(*operand->scale, {"e8m0fnu", "e4m3fn", "f32"}))
      return tl::unexpected(fmt::format("an operand of {} under {}: {}", operand->element->name,
                                        operand->scale ? operand->scale->name : "no scale",
                                        kMultiplied));
  }
  if (digits && !isOneOf(*right.element, {"e2m1fn"}))
    return tl::unexpected(fmt::format("f32 activations against {}: only e2m1fn takes them; "
                                      "quantize the activations",
                                      right.element->name));

  // K is cut at the edges of both operands' blocks: at multiples of one number, or nowhere.
  auto cut = [&](const OperandFormat& operand) {
    return operand.along == format::kWholeAxis || operand.along >= depth ? depth : operand.along;
  };
  const std::int64_t a = digits ? cut(right) : cut(left);
  const std::int64_t b = cut(right);
  const std::int64_t least = std::min(a, b), most = std::max(a, b);
  const bool whole = least == depth;
  if (!whole &&
      (least % 16 != 0 || (least > 16 && least % 32 != 0) || (most < depth && most % least != 0)))
    return tl::unexpected(fmt::format("blocks of {} and {} along an axis of {}: multiplied are "
                                      "blocks of 16, of multiples of 32 that divide one another, "
                                      "or of the whole axis",
                                      a, b, depth));
  plan.piece = least <= 16 ? 16 : 32;
  plan.pieces = (depth + 31) / 32 * (32 / plan.piece);
  plan.piecesInSum = whole ? (least + plan.piece - 1) / plan.piece : least / plan.piece;
  if (digits && (plan.piecesInSum > 1 || right.scale->width() != 8))
    return tl::unexpected(fmt::format("f32 activations against blocks of {} under {}: they take "
                                      "blocks of 16 or 32 under scales of 8 bits; quantize the "
                                      "activations",
                                      b, right.scale->name));

  const std::int32_t x = digits ? 128 : greatestInteger(*left.element);
  const std::int32_t y = greatestInteger(*right.element);
  if (plan.piecesInSum * plan.piece >
      std::numeric_limits<std::int32_t>::max() / (std::int64_t{x} * y))
    return tl::unexpected(
        fmt::format("blocks of {} of {} times {}: their sum is exact in 32 bits up to {} elements",
                    plan.piecesInSum * plan.piece, left.element->name, right.element->name,
                    std::numeric_limits<std::int32_t>::max() / (std::int64_t{x} * y)));
  plan.quantum = (digits ? 0 : left.element->quantumExponent()) + right.element->quantumExponent();

  // u8 times s8, two by two in the signed 16 bits of AVX2, for the steps of a piece or for two.
  const bool bytes = x <= 128 && y <= 128;
  const std::int32_t pair = 2 * 2 * y * x;
  if (!bytes || (isa == Isa::Avx2 && 2 * pair > 32767))
    plan.dot = Dot::Words;
  else
    plan.dot = isa != Isa::Avx2 || plan.piece / 4 * pair <= 32767 || digits ? Dot::Bytes
                                                                            : Dot::BytesInPairs;
  plan.offset = plan.dot == Dot::Words ? 0 : y;
  const bool leftFloat = !digits && isOneOf(*left.scale, {"f32"});
  const bool rightFloat = isOneOf(*right.scale, {"f32"});
  auto isPower = [](const OperandFormat& operand) {
    return operand.scale == nullptr || isOneOf(*operand.scale, {"e8m0fnu"});
  };
  plan.scaleProductIsExact = isPower(left) || isPower(right) || (!leftFloat && !rightFloat);
  return plan;
}

/// Which finish gives the terms of these operands.
static Finish finishOf(const ProductPlan& plan, const PackedOperand& left,
                       const PackedOperand& right) {
  const int least = left.leastExponent + right.leastExponent + plan.quantum;
  const int greatest = left.greatestExponent + right.greatestExponent + plan.quantum;
  // Two significands below 2 have a product below 4.
  const bool inRange = std::min(least, right.leastExponent + plan.quantum) >= -126 &&
                       std::max(greatest, right.greatestExponent + plan.quantum) <= 125;
  if (plan.piecesInSum > 1 || !plan.scaleProductIsExact || left.hasUnusualScale ||
      right.hasUnusualScale || !inRange)
    return Finish::Doubles;
  const bool powers = (plan.left.scale == nullptr || plan.left.scale->name == "e8m0fnu") &&
                      plan.right.scale->name == "e8m0fnu";
  return powers && plan.piece == 32 ? Finish::Exponents : Finish::Floats;
}

namespace {

/// A product under way.
struct Product {
  const ProductPlan& plan;
  const PackedOperand& left;
  const PackedOperand& right;
  float* c;
  const Execution& execution;

  const ProductKernels& kernels = productKernels(plan.isa);
  Finish finish = finishOf(plan, left, right);
  std::int64_t panels = (right.rows + kPanelColumns - 1) / kPanelColumns;
  std::int64_t columns = right.rows;

  NibbleKind nibbleKind() const {
    if (plan.piece == 16)
      return right.scaleCodes == ScaleCodes::E4M3 ? NibbleKind::E4M3By16 : NibbleKind::E8M0By16;
    return finish == Finish::Exponents ? NibbleKind::Exponents32 : NibbleKind::Floats32;
  }
  const std::byte* leftTile(std::int64_t row) const {
    return left.elements.data() + row * plan.pieces * 4 * (plan.steps() + 2);
  }
  std::int64_t rightRecord() const { return std::int64_t{kStepBytes} * (plan.steps() + 1); }
  int columnsOf(std::int64_t panel) const {
    return static_cast<int>(std::min<std::int64_t>(kPanelColumns, columns - panel * kPanelColumns));
  }

  void direct();
  void directDigits();
  void digitsByDoubles(std::int64_t row, std::int64_t panel);
  /// The records of `count` panels from `firstPiece` on, unpacked to `scratch` unless the operand
  /// has them. In the operand a panel's records are plan.pieces apart, in scratch `pieces`.
  const std::byte* rightRecords(std::int64_t panel, int count, std::int64_t firstPiece,
                                std::int64_t pieces, std::vector<std::byte>& scratch) const;
  void tiles();
  void tiles(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t panelBegin,
             std::int64_t panelEnd);
  void scaleBy(float outer, std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t columnBegin,
               std::int64_t columnEnd);
};

int heightIndex(int height) {
  return static_cast<int>(std::ranges::find(kTileHeights, height) - std::begin(kTileHeights));
}

} // namespace

void Product::scaleBy(float outer, std::int64_t rowBegin, std::int64_t rowEnd,
                      std::int64_t columnBegin, std::int64_t columnEnd) {
  if (outer == 1)
    return;
  for (std::int64_t m = rowBegin; m < rowEnd; ++m)
    for (std::int64_t n = columnBegin; n < columnEnd; ++n)
      c[m * columns + n] *= outer;
}

/// A few rows against 4-bit storage: a panel is read from memory once, and again from the cache for
/// the next tile of rows.
void Product::direct() {
  const Tiling tiling{left.rows, kernels.tallest};
  const std::int64_t groups = plan.pieces * plan.piece / 32;
  const auto& directs = kernels.direct[static_cast<int>(nibbleKind())];
  forRanges(static_cast<std::size_t>(panels), 4, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto panel = static_cast<std::int64_t>(begin);
                   panel < static_cast<std::int64_t>(end); ++panel)
                for (std::int64_t row = 0; row < left.rows;) {
                  const int height = tiling.tileOf(row).height;
                  float sums[4 * kPanelColumns] = {};
                  directs[heightIndex(height)](
                      {.left = leftTile(row),
                       .elements = reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                                   panel * groups * 4 * kStepBytes,
                       .scales = reinterpret_cast<const std::uint8_t*>(right.scales.data()) +
                                 panel * plan.pieces * kPanelColumns,
                       .groups = groups,
                       .c = sums,
                       .stride = kPanelColumns,
                       .quantum = plan.quantum});
                  const float outer = left.outer * right.outer;
                  for (int i = 0; i < height; ++i)
                    for (int n = 0; n < columnsOf(panel); ++n)
                      c[(row + i) * columns + panel * kPanelColumns + n] =
                          sums[i * kPanelColumns + n] * outer;
                  row += height;
                }
            });
}

/// f32 activations, row by row; a panel is read from memory by the first row.
void Product::directDigits() {
  const std::int64_t groups = plan.pieces * plan.piece / 32;
  const std::int64_t leftRow = plan.pieces * 4 * (plan.steps() * kDigits + 2);
  Direct* direct = kernels.directDigits[static_cast<int>(nibbleKind())];
  forRanges(static_cast<std::size_t>(panels), 4, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto panel = static_cast<std::int64_t>(begin);
                   panel < static_cast<std::int64_t>(end); ++panel)
                for (std::int64_t row = 0; row < left.rows; ++row) {
                  if (finish == Finish::Doubles) {
                    digitsByDoubles(row, panel);
                    continue;
                  }
                  float sums[kPanelColumns] = {};
                  direct({.left = left.elements.data() + row * leftRow,
                          .elements = reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                                      panel * groups * 4 * kStepBytes,
                          .scales = reinterpret_cast<const std::uint8_t*>(right.scales.data()) +
                                    panel * plan.pieces * kPanelColumns,
                          .groups = groups,
                          .c = sums,
                          .stride = kPanelColumns,
                          .quantum = plan.quantum});
                  for (int n = 0; n < columnsOf(panel); ++n)
                    c[row * columns + panel * kPanelColumns + n] = sums[n] * right.outer;
                }
            });
}

/// As directDigits where a scale, or a product of scales, is beyond a normal f32: one element after
/// the other, through f64. Rare (scales near the ends of E8M0, or NaN), so it is only correct.
void Product::digitsByDoubles(std::int64_t row, std::int64_t panel) {
  const int steps = plan.steps();
  const double unit = std::ldexp(1.0, plan.quantum);
  std::vector<std::byte> expanded;
  const std::byte* records = rightRecords(panel, 1, 0, plan.pieces, expanded);
  const std::byte* digits = left.elements.data() + row * plan.pieces * 4 * (steps * kDigits + 2);
  float sums[kPanelColumns] = {};
  for (std::int64_t p = 0; p < plan.pieces; ++p) {
    float rowScale;
    std::memcpy(&rowScale, digits + 4 * (steps * kDigits + 1), 4);
    for (int n = 0; n < columnsOf(panel); ++n) {
      std::int32_t exact = 0;
      for (int k = 0; k < plan.piece; ++k) {
        std::int32_t x = 0;
        for (int d = 0; d < kDigits; ++d)
          x = x * 256 + static_cast<std::int8_t>(digits[4 * (k / 4 * kDigits + d) + k % 4]);
        const auto w = static_cast<std::int32_t>(records[k / 4 * kStepBytes + 4 * n + k % 4]);
        exact += x * (w - plan.offset);
      }
      float columnScale;
      std::memcpy(&columnScale, records + steps * kStepBytes + 4 * n, 4);
      sums[n] += static_cast<float>(static_cast<double>(static_cast<float>(exact)) * unit *
                                    (static_cast<double>(rowScale) * columnScale));
    }
    digits += 4 * (steps * kDigits + 2);
    records += rightRecord();
  }
  for (int n = 0; n < columnsOf(panel); ++n)
    c[row * columns + panel * kPanelColumns + n] = sums[n] * right.outer;
}

const std::byte* Product::rightRecords(std::int64_t panel, int count, std::int64_t firstPiece,
                                       std::int64_t pieces, std::vector<std::byte>& scratch) const {
  if (right.storage == PackedOperand::Storage::Records)
    return right.elements.data() + (panel * plan.pieces + firstPiece) * rightRecord();
  const std::int64_t panelBytes = pieces * rightRecord();
  scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(count * panelBytes)));
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

/// Rows and columns are cut into blocks, each the work of one thread from its first piece of K to
/// its last, so that neither the cut nor the threads change an order of additions.
void Product::tiles() {
  // Enough blocks for every thread; each as large as keeps its rows' chunk of K in half of L2.
  const std::int64_t blockRows = kernels.tallest * 96;
  const std::int64_t blockPanels = 16;
  const std::int64_t rowBlocks = (left.rows + blockRows - 1) / blockRows;
  const std::int64_t panelBlocks = (panels + blockPanels - 1) / blockPanels;
  forRanges(static_cast<std::size_t>(rowBlocks * panelBlocks), 1, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto b = static_cast<std::int64_t>(begin); b < static_cast<std::int64_t>(end);
                   ++b) {
                const std::int64_t row = b % rowBlocks * blockRows;
                const std::int64_t panel = b / rowBlocks * blockPanels;
                tiles(row, std::min(row + blockRows, left.rows), panel,
                      std::min(panel + blockPanels, panels));
              }
            });
}

void Product::tiles(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t panelBegin,
                    std::int64_t panelEnd) {
  const Tiling tiling{left.rows, kernels.tallest};
  // A chunk of K: two panels of it lie in L1 beside a tile of rows.
  const std::int64_t chunk =
      (std::int64_t{plan.dot == Dot::Words ? 384 : 768} / plan.piece + plan.piecesInSum - 1) /
      plan.piecesInSum * plan.piecesInSum;
  const auto& table =
      kernels.tiles[static_cast<int>(plan.dot)][static_cast<int>(finish)][plan.piece == 32];
  const int panelsOfTile = finish == Finish::Doubles ? 1 : kernels.panels;
  thread_local std::vector<std::byte> scratch;
  for (std::int64_t first = 0; first < plan.pieces; first += chunk) {
    const std::int64_t pieces = std::min(chunk, plan.pieces - first);
    for (std::int64_t panel = panelBegin; panel < panelEnd; panel += panelsOfTile) {
      const int count = static_cast<int>(std::min<std::int64_t>(panelsOfTile, panelEnd - panel));
      const std::byte* records = rightRecords(panel, count, first, pieces, scratch);
      TileArguments tile{};
      tile.right = records;
      tile.rightStride =
          (right.storage == PackedOperand::Storage::Records ? plan.pieces : pieces) * rightRecord();
      tile.records = pieces;
      tile.recordsInSum = plan.piecesInSum;
      tile.quantum = plan.quantum;
      const std::int64_t column = panel * kPanelColumns;
      const std::int64_t width = std::min<std::int64_t>(count * kPanelColumns, columns - column);
      for (std::int64_t row = rowBegin; row < rowEnd;) {
        const int height = tiling.tileOf(row).height;
        tile.left = leftTile(row) + first * height * 4 * (plan.steps() + 2);
        // Columns beyond C's last go to a tile of their own; so do sums that are kept in memory,
        // for rows of C are often a multiple of 4 KiB apart, which stores and loads mistake for one
        // another.
        alignas(64) float edge[6 * kMaxPanels * kPanelColumns];
        const bool whole = width == count * kPanelColumns && kernels.sumsInRegisters;
        float* corner = c + row * columns + column;
        tile.c = whole ? corner : edge;
        tile.stride = whole ? columns : kMaxPanels * kPanelColumns;
        for (int i = 0; i < height; ++i) {
          if (first == 0)
            std::fill_n(tile.c + i * tile.stride, count * kPanelColumns, 0.0f);
          else if (!whole)
            std::copy_n(corner + i * columns, width, edge + i * tile.stride);
        }
        table[heightIndex(height)][count - 1](tile);
        if (!whole)
          for (int i = 0; i < height; ++i)
            std::copy_n(edge + i * tile.stride, width, corner + i * columns);
        row += height;
      }
    }
  }
  scaleBy(left.outer * right.outer, rowBegin, rowEnd, panelBegin * kPanelColumns,
          std::min(panelEnd * kPanelColumns, columns));
}

void multiply(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
              std::span<float> c, const Execution& execution) {
  assert(execution.isa == plan.isa && left.side == Side::Left && right.side == Side::Right);
  assert(static_cast<std::int64_t>(c.size()) == left.rows * right.rows);
  Product product{plan, left, right, c.data(), execution};
  if (left.storage == PackedOperand::Storage::Digits)
    product.directDigits();
  else if (left.rows <= 4 && right.storage == PackedOperand::Storage::Nibbles &&
           product.finish != Finish::Doubles)
    product.direct();
  else
    product.tiles();
}

} // namespace octavo::kernels
