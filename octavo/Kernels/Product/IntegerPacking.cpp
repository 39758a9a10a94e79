#include "octavo/Kernels/Product/IntegerPacking.h"

#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace octavo::kernels {

std::uint32_t correctionOf(const ProductPlan& plan, const std::int8_t* bytes, std::int32_t sum) {
  const auto offset = static_cast<std::uint32_t>(plan.offset);
  if (plan.dot != Dot::BytesWrapped)
    return 0u - offset * static_cast<std::uint32_t>(sum);
  std::int32_t ofByte[4] = {};
  for (int k = 0; k < plan.piece; k += 4)
    for (int i = 0; i < 4; ++i)
      ofByte[i] += bytes[k + i];
  auto half = [&](std::int32_t part) {
    return (0u - offset * static_cast<std::uint32_t>(part)) & 0xFFFF;
  };
  return half(ofByte[0] + ofByte[1]) | half(ofByte[2] + ofByte[3]) << 16;
}

namespace {

/// The integer of each code of a format of at most 8 bits: its value over its quantum.
std::array<std::int16_t, 256> integersOf(const ElementFormat& format) {
  std::array<std::int16_t, 256> integers{};
  const float quanta = std::ldexp(1.0f, -format.quantumExponent());
  for (std::size_t code = 0; code < integers.size(); ++code)
    integers[code] = static_cast<std::int16_t>(decodedValues(format)[code] * quanta);
  return integers;
}

/// The scales of a matrix, row by row and piece by piece.
class Scales {
public:
  Scales(const ScaledView& matrix, const ProductPlan& plan)
      : matrix(matrix), format(*matrix.scale), piece(plan.piece), depth(plan.depth),
        grid(depth / matrix.along + (depth % matrix.along != 0)), values(decodedValues(format)) {}

  std::uint32_t code(std::int64_t row, std::int64_t p) const {
    const std::int64_t column = matrix.along == piece ? p : p * piece / matrix.along;
    const std::int64_t at = (matrix.across == 1 ? row : row / matrix.across) * grid + column;
    if (matrix.scaleBytes == 1)
      return static_cast<const std::uint8_t*>(matrix.scales)[at];
    return static_cast<const std::uint32_t*>(matrix.scales)[at];
  }
  /// A scale as f32, which is exact; 1 beyond K.
  float value(std::int64_t row, std::int64_t p) const {
    if (p * piece >= depth)
      return 1;
    const std::uint32_t c = code(row, p);
    return format.width() <= 8 ? values[c] : std::bit_cast<float>(c);
  }

  /// The row's 8-bit scale codes if there is one for each piece within K, contiguous; else null.
  const std::uint8_t* codesOf(std::int64_t row) const {
    if (matrix.along != piece || matrix.scaleBytes != 1)
      return nullptr;
    return static_cast<const std::uint8_t*>(matrix.scales) +
           (matrix.across == 1 ? row : row / matrix.across) * grid;
  }
  float valueOf(std::uint8_t code) const { return values[code]; }

private:
  const ScaledView& matrix;
  const ElementFormat& format;
  std::int64_t piece, depth, grid;
  const std::array<float, 256>& values;
};

/// Whether the piece may have any scale: its elements are zero and its scale is not NaN. It gets
/// scale 1: a zero block often has the smallest scale, which would exclude the fast paths.
bool isIdle(bool allZero, float scale) { return allZero && std::isfinite(scale); }

/// Products of two such scales, and of their quanta, are far from both ends of f32's range.
bool isNearOne(float scale) {
  constexpr std::uint32_t kNear = 30;
  return (std::bit_cast<std::uint32_t>(scale) >> 23) - (127 - kNear) <= 2 * kNear;
}

/// One row's elements of a piece, short at the end of K.
struct PieceCodes {
  const std::uint8_t* codes;
  int size;
};
PieceCodes pieceOf(const ScaledView& matrix, const ProductPlan& plan, std::int64_t row,
                   std::int64_t piece) {
  const std::int64_t begin = piece * plan.piece;
  const std::int64_t size = std::clamp<std::int64_t>(plan.depth - begin, 0, plan.piece);
  return {matrix.elements + row * plan.depth + begin, static_cast<int>(size)};
}

bool isZero(PieceCodes piece) {
  return std::all_of(piece.codes, piece.codes + piece.size,
                     [](std::uint8_t code) { return (code & 7) == 0; });
}

/// The rows of a left operand's tile as integers in steps, and the sums of the pieces of the row
/// that was read last.
class RowIntegers {
public:
  RowIntegers(const ScaledView& matrix, const ProductPlan& plan)
      : plan(plan), kernels(productKernels(plan.isa)), table(integersOf(*matrix.element)),
        codes(static_cast<std::size_t>(plan.pieces * plan.piece), 0), sums(plan.pieces, 0) {
    if (plan.dot == Dot::Words) {
      words.resize(codes.size(), 0);
      return;
    }
    tile.resize(codes.size() * static_cast<std::size_t>(kernels.tallest), 0);
    for (int code = 0; code < 64; ++code)
      byteTable[code] = static_cast<std::int8_t>(table[code]);
    isIdentity = matrix.element->isInteger();
  }

  /// Reads row number `number` of the tile.
  void read(const std::uint8_t* row, std::int64_t number) {
    if (plan.dot == Dot::Words) {
      for (std::int64_t k = 0; k < plan.depth; ++k)
        words[k] = table[row[k]];
      return;
    }
    bytes = tile.data() + number * rowBytes();
    const bool isPadded = plan.depth != rowBytes();
    if (isIdentity || isPadded)
      std::memcpy(isIdentity ? reinterpret_cast<std::uint8_t*>(bytes) : codes.data(), row,
                  static_cast<std::size_t>(plan.depth));
    if (!isIdentity)
      kernels.integers(isPadded ? codes.data() : row, plan.pieces, plan.piece, byteTable.data(),
                       bytes, sums.data());
    else if (plan.dot != Dot::BytesWrapped)
      for (std::int64_t p = 0; p < plan.pieces; ++p)
        sums[p] = std::accumulate(bytes + p * plan.piece, bytes + (p + 1) * plan.piece, 0);
  }

  /// The piece's steps, a dword each.
  const std::byte* piece(std::int64_t p) const {
    return plan.dot == Dot::Words ? reinterpret_cast<const std::byte*>(&words[p * plan.piece])
                                  : reinterpret_cast<const std::byte*>(bytes + p * plan.piece);
  }
  std::uint32_t correction(std::int64_t p) const {
    if (plan.dot == Dot::Words)
      return 0;
    if (plan.dot != Dot::BytesWrapped)
      return 0u - static_cast<std::uint32_t>(plan.offset) * static_cast<std::uint32_t>(sums[p]);
    return correctionOf(plan, bytes + p * plan.piece, sums[p]);
  }
  /// Whether the rows of a tile of this height are interleaved after all of them were read.
  bool isWhole(int height) const { return plan.dot != Dot::Words && height == kernels.tallest; }
  void interleave(std::byte* records) const {
    kernels.interleave[plan.piece == 16](tile.data(), rowBytes(), plan.pieces * plan.piece / 32,
                                         records);
  }

private:
  std::int64_t rowBytes() const { return plan.pieces * plan.piece; }

  const ProductPlan& plan;
  const ProductKernels& kernels;
  std::array<std::int16_t, 256> table;
  std::array<std::int8_t, 64> byteTable{};
  bool isIdentity = false;
  ThreadVector<std::uint8_t> codes;
  ThreadVector<std::int8_t> tile;
  std::int8_t* bytes = nullptr; ///< of the row that was read last
  ThreadVector<std::int16_t> words;
  ThreadVector<std::int32_t> sums;
};

/// kSteps is the steps of a piece: 4, 8 or 16. The steps of a whole tile are interleaved later.
template <int kSteps>
void packLeftPieces(const RowIntegers& integers, const Scales& scales, const ProductPlan& plan,
                    std::int64_t row, int height, std::byte* to, ExponentRange& range) {
  const std::int64_t next = std::int64_t{4} * height;
  const bool isWhole = integers.isWhole(height);
  const std::uint8_t* const scaleCodes = scales.codesOf(row);
  const std::int64_t coded = scaleCodes != nullptr ? plan.depth / plan.piece : 0;
  // The bits of scales near 1 are ordered. Taking each exponent would double the time.
  std::uint32_t least = ~0u, greatest = 0;
  for (std::int64_t p = 0; p < plan.pieces; ++p) {
    const std::byte* steps = integers.piece(p);
    if (!isWhole)
      for (int s = 0; s < kSteps; ++s)
        std::memcpy(to + s * next, steps + std::ptrdiff_t{4} * s, 4);
    to += kSteps * next;
    float scale = p < coded ? scales.valueOf(scaleCodes[p]) : scales.value(row, p);
    const std::uint32_t correction = integers.correction(p);
    if (isNearOne(scale)) {
      const auto bits = std::bit_cast<std::uint32_t>(scale);
      least = std::min(least, bits);
      greatest = std::max(greatest, bits);
      std::memcpy(to, &correction, 4);
      std::memcpy(to + next, &scale, 4);
      to += 2 * next;
      continue;
    }
    auto isZeroPiece = [&] {
      return std::all_of(steps, steps + std::ptrdiff_t{4} * kSteps,
                         [](std::byte byte) { return byte == std::byte{0}; });
    };
    if (plan.piecesInSum == 1 && isIdle(isZeroPiece(), scale))
      scale = 1;
    else
      range.add(scale);
    std::memcpy(to, &correction, 4);
    std::memcpy(to + next, &scale, 4);
    to += 2 * next;
  }
  if (least <= greatest) {
    range.add(std::bit_cast<float>(least));
    range.add(std::bit_cast<float>(greatest));
  }
}

void packRightRow(const ScaledView& matrix, const Scales& scales, const ProductPlan& plan,
                  const std::array<std::int16_t, 256>& integers, std::int64_t row, bool isFar,
                  PackedOperand& packed) {
  const int steps = plan.steps();
  const std::int64_t record = std::int64_t{kStepBytes} * (steps + 1);
  std::byte* to =
      packed.elements.data() + row / kPanelColumns * plan.pieces * record + row % kPanelColumns * 4;
  for (std::int64_t p = 0; p < plan.pieces; ++p, to += record) {
    const auto [codes, size] = pieceOf(matrix, plan, row, p);
    bool any = false;
    for (int k = 0; k < size; ++k) {
      const std::int16_t integer = integers[codes[k]];
      any |= integer != 0;
      if (plan.dot == Dot::Words)
        std::memcpy(to + k / 2 * kStepBytes + k % 2 * 2, &integer, 2);
      else
        to[k / 4 * kStepBytes + k % 4] = static_cast<std::byte>(integer + plan.offset);
    }
    float scale = scales.value(row, p);
    if (isFar || (isIdle(!any, scale) && plan.piecesInSum == 1))
      scale = 1;
    std::memcpy(to + steps * kStepBytes, &scale, 4);
  }
}

/// The exponent range of a row's scales over blocks that are not zero.
ExponentRange rangeOf(const ScaledView& matrix, const Scales& scales, const ProductPlan& plan,
                      std::int64_t row) {
  const auto zero = [&](std::int64_t p) {
    const auto [codes, size] = pieceOf(matrix, plan, row, p);
    const auto& values = decodedValues(*matrix.element);
    return std::all_of(codes, codes + size, [&](std::uint8_t code) { return values[code] == 0; });
  };
  ExponentRange range;
  for (std::int64_t p = 0; p < plan.pieces; ++p)
    if (const float scale = scales.value(row, p); isNearOne(scale) || !isIdle(zero(p), scale))
      range.add(scale);
  return range;
}

/// Whether the products of a column with digits of f32, or their sums, may leave the range of
/// normal numbers.
bool isFarColumn(const ExponentRange& range) {
  constexpr int kFar = 32;
  return range.unusual || range.least < -kFar ||
         (range.greatest > kFar && range.least <= range.greatest);
}

void packNibbleRow(const ScaledView& matrix, const Scales& scales, const ProductPlan& plan,
                   std::int64_t row, bool isFar, PackedOperand& packed) {
  const std::int64_t groups = plan.pieces * plan.piece / 32;
  const std::int64_t panel = row / kPanelColumns;
  const std::int64_t column = row % kPanelColumns;
  std::byte* to = packed.elements.data() + panel * groups * 4 * kStepBytes + column * 4;
  const std::uint8_t* codes = matrix.elements + row * plan.depth;
  for (std::int64_t g = 0; g < groups; ++g, to += 4 * kStepBytes) {
    std::uint8_t group[32] = {};
    const std::int64_t size = std::min<std::int64_t>(32, plan.depth - g * 32);
    std::memcpy(group, codes + g * 32, static_cast<std::size_t>(size));
    for (int k = 0; k < 16; ++k)
      to[k / 4 * kStepBytes + k % 4] =
          static_cast<std::byte>((group[k] & 15) | (group[k + 16] & 15) << 4);
  }
  const auto one = static_cast<std::uint8_t>(numerics::encode(*matrix.scale, 1.0));
  std::byte* scale = packed.scales.data() + panel * plan.pieces * kPanelColumns + column;
  for (std::int64_t p = 0; p < plan.pieces; ++p, scale += kPanelColumns) {
    const bool takesAny =
        isFar || isIdle(isZero(pieceOf(matrix, plan, row, p)), scales.value(row, p));
    *scale = static_cast<std::byte>(takesAny ? one : scales.code(row, p));
  }
}

} // namespace

PackedOperand packLeftIntegers(const ScaledView& matrix, const ProductPlan& plan,
                               const Execution& execution, PackedOperand&& old) {
  PackedOperand packed = emptied(std::move(old), Side::Left, PackedOperand::Storage::Records);
  packed.rows = matrix.rows;
  packed.outer = matrix.outer;
  packed.elements = PackedBytes(static_cast<std::size_t>(packed.rows * plan.pieces) * 4 *
                                    static_cast<std::size_t>(plan.steps() + 2),
                                std::move(packed.elements), PackedBytes::Fill::None);
  const Scales scales(matrix, plan);
  const Tiling tiling{packed.rows, productKernels(plan.isa).tallest};
  constexpr std::size_t kGrain = 96; // whole tiles
  forRows(packed, kGrain, execution, [&] {
    return
        [&, integers = RowIntegers(matrix, plan)](std::int64_t row, ExponentRange& range) mutable {
          const auto [first, height] = tiling.tileOf(row);
          integers.read(matrix.elements + row * plan.depth, row - first);
          std::byte* const records =
              packed.elements.data() + first * plan.pieces * 4 * (plan.steps() + 2);
          std::byte* to = records + (row - first) * 4;
          const auto packPieces = plan.steps() == 4   ? packLeftPieces<4>
                                  : plan.steps() == 8 ? packLeftPieces<8>
                                                      : packLeftPieces<16>;
          packPieces(integers, scales, plan, row, height, to, range);
          if (row == first + height - 1 && integers.isWhole(height))
            integers.interleave(records);
        };
  });
  return packed;
}

bool canStoreNibbles(const ProductPlan& plan) {
  return plan.right.element->name == "e2m1fn" && plan.right.scale->width() == 8 &&
         plan.dot != Dot::Words && plan.piecesInSum == 1 &&
         (plan.piece == 16 || plan.right.scale->specials == format::Specials::Scale);
}

PackedOperand packRightIntegers(const ScaledView& matrix, const ProductPlan& plan,
                                const Execution& execution, PackedOperand&& old) {
  using Storage = PackedOperand::Storage;
  PackedOperand packed = emptied(std::move(old), Side::Right, Storage::Records);
  packed.rows = matrix.rows;
  packed.outer = matrix.outer;
  const Scales scales(matrix, plan);
  const auto panels = static_cast<std::size_t>((packed.rows + kPanelColumns - 1) / kPanelColumns);
  const auto pieces = static_cast<std::size_t>(plan.pieces);
  ThreadVector<std::uint8_t> isFar(static_cast<std::size_t>(packed.rows), 0);
  forRows(packed, 4 * kPanelColumns, execution, [&] {
    return [&](std::int64_t row, ExponentRange& range) {
      const ExponentRange ofRow = rangeOf(matrix, scales, plan, row);
      isFar[row] = plan.left.scale == nullptr && isFarColumn(ofRow);
      if (!isFar[row])
        range.add(ofRow);
    };
  });
  keepFarRows(matrix, isFar, packed);
  if (canStoreNibbles(plan) && !packed.hasUnusualScale)
    packed.storage = Storage::Nibbles;
  if (packed.storage == Storage::Nibbles) {
    packed.scaleCodes =
        plan.right.scale->specials == format::Specials::Scale ? ScaleCodes::E8M0 : ScaleCodes::E4M3;
    packed.elements =
        PackedBytes(panels * pieces * static_cast<std::size_t>(plan.piece) * kPanelColumns / 2,
                    std::move(packed.elements));
    packed.scales = PackedBytes(panels * pieces * kPanelColumns, std::move(packed.scales));
    forRanges(panels, 4, execution, [&](std::size_t begin, std::size_t end) {
      const std::int64_t last = std::min<std::int64_t>(end * kPanelColumns, packed.rows);
      for (std::int64_t row = begin * kPanelColumns; row < last; ++row)
        packNibbleRow(matrix, scales, plan, row, isFar[row], packed);
    });
    return packed;
  }
  const auto integers = integersOf(*matrix.element);
  packed.elements =
      PackedBytes(panels * pieces * static_cast<std::size_t>(plan.steps() + 1) * kStepBytes,
                  std::move(packed.elements));
  forRanges(static_cast<std::size_t>(packed.rows), 4 * kPanelColumns, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto row = static_cast<std::int64_t>(begin);
                   row < static_cast<std::int64_t>(end); ++row)
                packRightRow(matrix, scales, plan, integers, row, isFar[row], packed);
            });
  return packed;
}

} // namespace octavo::kernels
