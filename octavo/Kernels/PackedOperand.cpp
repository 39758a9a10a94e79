#include "octavo/Kernels/PackedOperand.h"

#include "octavo/Kernels/Product.h"
#include "octavo/Kernels/ProductFloat.h"
#include "octavo/Kernels/Quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <sys/mman.h>

namespace octavo::kernels {

PackedBytes::PackedBytes(std::size_t size, PackedBytes&& old, Fill fill) : count(size) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t alignment = size < kHugePage ? 64 : kHugePage;
  // A look-ahead past the end of the last record may read, never use, some bytes.
  const std::size_t rounded = (size + 64 + alignment - 1) / alignment * alignment;
  if (old.bytes && old.count == size) {
    bytes = std::move(old.bytes);
    if (fill == Fill::Zero)
      std::memset(bytes.get(), 0, rounded);
    return;
  }
  bytes.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!bytes)
    throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (alignment == kHugePage)
    madvise(bytes.get(), rounded, MADV_HUGEPAGE); // a wish: nothing is lost where it is refused
#endif
  if (fill == Fill::Zero)
    std::memset(bytes.get(), 0, rounded);
}

const std::array<float, 256>& decodedValues(const ElementFormat& element) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, format::kElementFormats.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      for (std::uint32_t code = 0; code < 256 && format::kElementFormats[i].isNarrow(); ++code)
        made[i][code] = static_cast<float>(numerics::decode(format::kElementFormats[i], code));
    return made;
  }();
  return tables[static_cast<std::size_t>(&element - format::kElementFormats.data())];
}

Tiling::Tile Tiling::tileOf(std::int64_t row) const {
  std::int64_t first = row / tallest * tallest;
  std::int64_t rest = rows - first;
  if (rest >= tallest)
    return {first, tallest};
  for (int height : kTileHeights)
    if (height < tallest && height <= rest) {
      if (row < first + height)
        return {first, height};
      first += height;
      rest -= height;
    }
  assert(false && "row is below rows");
  return {first, 1};
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
  /// f32 holds every scale. Beyond K: 1.
  float value(std::int64_t row, std::int64_t p) const {
    if (p * piece >= depth)
      return 1;
    const std::uint32_t c = code(row, p);
    return format.width() <= 8 ? values[c] : std::bit_cast<float>(c);
  }

private:
  const ScaledView& matrix;
  const ElementFormat& format;
  std::int64_t piece, depth, grid;
  const std::array<float, 256>& values;
};

struct ExponentRange {
  int least = std::numeric_limits<int>::max();
  int greatest = std::numeric_limits<int>::min();
  bool unusual = false;

  void add(float scale) {
    if (!std::isnormal(scale)) {
      unusual = true;
      return;
    }
    const int exponent = std::ilogb(scale);
    least = std::min(least, exponent);
    greatest = std::max(greatest, exponent);
  }
  void add(const ExponentRange& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    unusual |= other.unusual;
  }
  void into(PackedOperand& packed) const {
    packed.hasUnusualScale = unusual;
    packed.leastExponent = least > greatest ? 0 : least;
    packed.greatestExponent = least > greatest ? 0 : greatest;
  }
};

/// Whether the piece may take any scale: its elements are all zero, and the scale is a number. It
/// takes 1: the scale of a zero block is often the smallest there is, and would cost the fast
/// paths.
bool isIdle(bool allZero, float scale) { return allZero && std::isfinite(scale); }

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

/// E2M1 under scales of 8 bits, in pieces that nothing joins.
bool canStoreNibbles(const ProductPlan& plan) {
  return plan.right.element->name == "e2m1fn" && plan.right.scale->width() == 8 &&
         plan.dot != Dot::Words && plan.piecesInSum == 1 &&
         (plan.piece == 16 || plan.right.scale->specials == format::Specials::Scale);
}

/// What makes up for the offset of the right operand's integers in a piece of the left one's, whose
/// sum is `sum`. Of BytesWrapped: for each half of a dword, modulo 2^16.
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

/// One row of a left operand as integers of its steps, with the sums of its pieces.
class RowIntegers {
public:
  RowIntegers(const ScaledView& matrix, const ProductPlan& plan)
      : plan(plan), kernels(productKernels(plan.isa)), table(integersOf(*matrix.element)),
        codes(static_cast<std::size_t>(plan.pieces * plan.piece), 0), sums(plan.pieces, 0) {
    if (plan.dot == Dot::Words) {
      words.resize(codes.size(), 0);
      return;
    }
    bytes.resize(codes.size(), 0);
    for (int code = 0; code < 64; ++code)
      byteTable[code] = static_cast<std::int8_t>(table[code]);
    isIdentity = matrix.element->isInteger();
  }

  void read(const std::uint8_t* row) {
    if (plan.dot == Dot::Words) {
      for (std::int64_t k = 0; k < plan.depth; ++k)
        words[k] = table[row[k]];
      return;
    }
    std::memcpy(isIdentity ? reinterpret_cast<std::uint8_t*>(bytes.data()) : codes.data(), row,
                static_cast<std::size_t>(plan.depth));
    if (!isIdentity)
      kernels.integers(codes.data(), plan.pieces, plan.piece, byteTable.data(), bytes.data(),
                       sums.data());
    else if (plan.dot != Dot::BytesWrapped)
      for (std::int64_t p = 0; p < plan.pieces; ++p)
        sums[p] = std::accumulate(bytes.begin() + p * plan.piece,
                                  bytes.begin() + (p + 1) * plan.piece, 0);
  }

  /// The piece's steps, a dword each.
  const std::byte* piece(std::int64_t p) const {
    return plan.dot == Dot::Words ? reinterpret_cast<const std::byte*>(&words[p * plan.piece])
                                  : reinterpret_cast<const std::byte*>(&bytes[p * plan.piece]);
  }
  std::uint32_t correction(std::int64_t p) const {
    return bytes.empty() ? 0 : correctionOf(plan, &bytes[p * plan.piece], sums[p]);
  }

private:
  const ProductPlan& plan;
  const ProductKernels& kernels;
  std::array<std::int16_t, 256> table;
  std::array<std::int8_t, 64> byteTable{};
  bool isIdentity = false;
  std::vector<std::uint8_t> codes;
  std::vector<std::int8_t> bytes;
  std::vector<std::int16_t> words;
  std::vector<std::int32_t> sums;
};

/// kSteps of a piece: 4, 8 or 16.
template <int kSteps>
void packLeftPieces(const RowIntegers& integers, const Scales& scales, const ProductPlan& plan,
                    std::int64_t row, int height, std::byte* to, ExponentRange& range) {
  const std::int64_t next = std::int64_t{4} * height;
  for (std::int64_t p = 0; p < plan.pieces; ++p) {
    std::uint32_t steps[kSteps];
    std::memcpy(steps, integers.piece(p), sizeof steps);
    std::uint32_t any = 0;
    for (int s = 0; s < kSteps; ++s, to += next) {
      any |= steps[s];
      std::memcpy(to, &steps[s], 4);
    }
    float scale = scales.value(row, p);
    if (isIdle(any == 0, scale) && plan.piecesInSum == 1)
      scale = 1;
    else
      range.add(scale);
    const std::uint32_t correction = integers.correction(p);
    std::memcpy(to, &correction, 4);
    std::memcpy(to + next, &scale, 4);
    to += 2 * next;
  }
}

void packRightRow(const ScaledView& matrix, const Scales& scales, const ProductPlan& plan,
                  const std::array<std::int16_t, 256>& integers, std::int64_t row,
                  PackedOperand& packed, ExponentRange& range) {
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
    if (isIdle(!any, scale) && plan.piecesInSum == 1)
      scale = 1;
    else
      range.add(scale);
    std::memcpy(to + steps * kStepBytes, &scale, 4);
  }
}

void packNibbleRow(const ScaledView& matrix, const Scales& scales, const ProductPlan& plan,
                   std::int64_t row, PackedOperand& packed) {
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
    const bool idle = isIdle(isZero(pieceOf(matrix, plan, row, p)), scales.value(row, p));
    *scale = static_cast<std::byte>(idle ? one : scales.code(row, p));
  }
}

/// Calls makePacker()(row, range) for all rows, and joins the ranges of their scales.
template <typename MakePacker>
void forRows(PackedOperand& packed, std::size_t grain, const Execution& execution,
             MakePacker makePacker) {
  ExponentRange all;
  std::mutex joining;
  forRanges(static_cast<std::size_t>(packed.rows), grain, execution,
            [&](std::size_t begin, std::size_t end) {
              ExponentRange range;
              auto packRow = makePacker();
              for (std::size_t row = begin; row < end; ++row)
                packRow(static_cast<std::int64_t>(row), range);
              const std::lock_guard lock(joining);
              all.add(range);
            });
  all.into(packed);
}

PackedOperand packLeft(const ScaledView& matrix, const ProductPlan& plan,
                       const Execution& execution, PackedOperand&& old) {
  PackedOperand packed{.side = Side::Left, .storage = PackedOperand::Storage::Records};
  packed.rows = matrix.rows;
  packed.elements = PackedBytes(static_cast<std::size_t>(packed.rows * plan.pieces) * 4 *
                                    static_cast<std::size_t>(plan.steps() + 2),
                                std::move(old.elements));
  const Scales scales(matrix, plan);
  const Tiling tiling{packed.rows, productKernels(plan.isa).tallest};
  forRows(packed, 64, execution, [&] {
    return
        [&, integers = RowIntegers(matrix, plan)](std::int64_t row, ExponentRange& range) mutable {
          const auto [first, height] = tiling.tileOf(row);
          integers.read(matrix.elements + row * plan.depth);
          std::byte* to = packed.elements.data() + first * plan.pieces * 4 * (plan.steps() + 2) +
                          (row - first) * 4;
          const auto packPieces = plan.steps() == 4   ? packLeftPieces<4>
                                  : plan.steps() == 8 ? packLeftPieces<8>
                                                      : packLeftPieces<16>;
          packPieces(integers, scales, plan, row, height, to, range);
        };
  });
  return packed;
}

PackedOperand packRight(const ScaledView& matrix, const ProductPlan& plan,
                        const Execution& execution, PackedOperand&& old) {
  using Storage = PackedOperand::Storage;
  PackedOperand packed{.side = Side::Right, .storage = Storage::Records};
  packed.rows = matrix.rows;
  const Scales scales(matrix, plan);
  const auto panels = static_cast<std::size_t>((packed.rows + kPanelColumns - 1) / kPanelColumns);
  const auto pieces = static_cast<std::size_t>(plan.pieces);
  if (canStoreNibbles(plan)) {
    forRows(packed, 64, execution, [&] {
      return [&](std::int64_t row, ExponentRange& range) {
        for (std::int64_t p = 0; p < plan.pieces; ++p)
          if (const float scale = scales.value(row, p);
              !isIdle(isZero(pieceOf(matrix, plan, row, p)), scale))
            range.add(scale);
      };
    });
    if (!packed.hasUnusualScale)
      packed.storage = Storage::Nibbles;
  }
  if (packed.storage == Storage::Nibbles) {
    packed.scaleCodes =
        plan.right.scale->specials == format::Specials::Scale ? ScaleCodes::E8M0 : ScaleCodes::E4M3;
    packed.elements =
        PackedBytes(panels * pieces * static_cast<std::size_t>(plan.piece) * kPanelColumns / 2,
                    std::move(old.elements));
    packed.scales = PackedBytes(panels * pieces * kPanelColumns, std::move(old.scales));
    forRanges(panels, 4, execution, [&](std::size_t begin, std::size_t end) {
      const std::int64_t last = std::min<std::int64_t>(end * kPanelColumns, packed.rows);
      for (std::int64_t row = begin * kPanelColumns; row < last; ++row)
        packNibbleRow(matrix, scales, plan, row, packed);
    });
    return packed;
  }
  const auto integers = integersOf(*matrix.element);
  packed.elements =
      PackedBytes(panels * pieces * static_cast<std::size_t>(plan.steps() + 1) * kStepBytes,
                  std::move(old.elements));
  forRows(packed, 4 * kPanelColumns, execution, [&] {
    return [&](std::int64_t row, ExponentRange& range) {
      packRightRow(matrix, scales, plan, integers, row, packed, range);
    };
  });
  return packed;
}

/// One piece of f32 as digits: x = n * 2^e, n = 2^16 * digits[0] + 2^8 * digits[1] + digits[2].
struct FixedPoint {
  std::int8_t digits[kDigits][32] = {};
  std::int32_t sum = 0; ///< of the n, modulo 2^32
  float scale = 1;      ///< 2^e; NaN where x has a NaN or an infinity

  FixedPoint(const float* x, int size) {
    float amax = 0;
    bool finite = true;
    for (int k = 0; k < size; ++k) {
      amax = std::max(amax, std::fabs(x[k]));
      finite &= std::isfinite(x[k]);
    }
    if (!finite)
      scale = std::numeric_limits<float>::quiet_NaN();
    if (!finite || amax == 0)
      return;
    // 2^-e is at most 2^126; a power of two below 2^-126 would not be a normal f32.
    const int exponent = std::max(std::ilogb(amax) - 21, -126);
    scale = std::ldexp(1.0f, exponent);
    const float inverse = std::ldexp(1.0f, -exponent);
    for (int k = 0; k < size; ++k) {
      // Exact product; the sum with 1.5 * 2^23 rounds it to an integer, ties to even.
      const float shifted = x[k] * inverse + 0x1.8p23f;
      const std::int32_t n = std::bit_cast<std::int32_t>(shifted) - 0x4B400000;
      const std::int32_t low = static_cast<std::int8_t>(n);
      const std::int32_t middle = static_cast<std::int8_t>((n - low) >> 8);
      digits[2][k] = static_cast<std::int8_t>(low);
      digits[1][k] = static_cast<std::int8_t>(middle);
      digits[0][k] = static_cast<std::int8_t>((((n - low) >> 8) - middle) >> 8);
      sum += n;
    }
  }
};

} // namespace

ScaledView viewOf(const numerics::ScaledTensor& matrix) {
  assert(matrix.shape.size() == 2);
  return {.element = matrix.type.element,
          .scale = matrix.type.scale,
          .rows = matrix.shape[0],
          .depth = matrix.shape[1],
          .across = matrix.type.block[0],
          .along = matrix.type.block[1],
          .elements = matrix.elements.data(),
          .scales = matrix.scales.data(),
          .scaleBytes = 4,
          .outer = matrix.outer};
}

PackedOperand pack(const numerics::ScaledTensor& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution, PackedOperand&& old) {
  return pack(viewOf(matrix), side, plan, execution, std::move(old));
}

PackedOperand pack(const ScaledView& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution, PackedOperand&& old) {
  [[maybe_unused]] const OperandFormat& format = side == Side::Left ? plan.left : plan.right;
  assert(matrix.depth == plan.depth && matrix.element == format.element &&
         matrix.scale == format.scale);
  if (plan.floats)
    return packFloats(matrix, side, plan, execution, std::move(old));
  PackedOperand packed = side == Side::Left ? packLeft(matrix, plan, execution, std::move(old))
                                            : packRight(matrix, plan, execution, std::move(old));
  packed.outer = matrix.outer;
  return packed;
}

tl::expected<PackedOperand, numerics::NonFiniteInput>
quantizeAndPack(std::span<const float> activations, const ProductPlan& plan,
                const numerics::QuantizeOptions& options, const Execution& execution,
                PackedOperand&& old) {
  const OperandFormat& format = plan.left;
  assert(format.scale != nullptr && plan.depth > 0);
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  assert(rows * plan.depth == static_cast<std::int64_t>(activations.size()));
  auto extent = [](std::int64_t block, std::int64_t n) {
    return std::max<std::int64_t>(1, block == format::kWholeAxis ? n : std::min(block, n));
  };
  const std::int64_t shape[] = {rows, plan.depth};
  // An outer scale goes with scales that are no powers of two (NVFP4).
  const numerics::ScaledType type{format.element,
                                  format.scale,
                                  {extent(format.across, rows), extent(format.along, plan.depth)},
                                  format.scale->name == "e4m3fn"};
  const auto grid = format::scaleShape(shape, type.block);
  const auto scaleBytes = static_cast<int>(format.scale->bytes());
  PackedBytes codes(activations.size(), PackedBytes::Fill::None);
  PackedBytes scales(static_cast<std::size_t>(grid[0] * grid[1] * scaleBytes),
                     PackedBytes::Fill::None);
  auto* elements = reinterpret_cast<std::uint8_t*>(codes.data());
  const QuantizeReport report =
      quantize(activations.data(), shape, type, options, elements, scales.data(), {}, execution);
  if (report.refused)
    return tl::unexpected(*report.refused);
  return pack(ScaledView{.element = format.element,
                         .scale = format.scale,
                         .rows = rows,
                         .depth = plan.depth,
                         .across = type.block[0],
                         .along = type.block[1],
                         .elements = elements,
                         .scales = scales.data(),
                         .scaleBytes = scaleBytes,
                         .outer = report.outer},
              Side::Left, plan, execution, std::move(old));
}

/// f32 rows as three rows of digits each, in the layout of other left operands.
static PackedOperand packDigitRows(std::span<const float> activations, const ProductPlan& plan,
                                   const Execution& execution, PackedOperand&& old) {
  PackedOperand packed{.side = Side::Left, .storage = PackedOperand::Storage::Records};
  packed.rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  const int steps = plan.steps();
  const Tiling tiling{packed.rows * kDigits, productKernels(plan.isa).tallest};
  packed.elements = PackedBytes(static_cast<std::size_t>(tiling.rows * plan.pieces) * 4 *
                                    static_cast<std::size_t>(steps + 2),
                                std::move(old.elements));
  forRows(packed, 1, execution, [&] {
    return [&](std::int64_t row, ExponentRange& range) {
      for (std::int64_t p = 0; p < plan.pieces; ++p) {
        const std::int64_t begin = p * plan.piece;
        const auto size =
            static_cast<int>(std::clamp<std::int64_t>(plan.depth - begin, 0, plan.piece));
        const FixedPoint fixed(activations.data() + row * plan.depth + begin, size);
        for (int d = 0; d < kDigits; ++d) {
          const auto [first, height] = tiling.tileOf(row * kDigits + d);
          std::byte* to = packed.elements.data() +
                          (first * plan.pieces + p * height) * 4 * (steps + 2) +
                          (row * kDigits + d - first) * 4;
          std::int32_t sum = 0;
          for (int k = 0; k < plan.piece; ++k) {
            const std::int8_t digit = fixed.digits[d][k];
            const std::int16_t word = digit;
            sum += digit;
            if (plan.dot == Dot::Words)
              std::memcpy(to + k / 2 * 4 * height + k % 2 * 2, &word, 2);
            else
              std::memcpy(to + k / 4 * 4 * height + k % 4, &digit, 1);
          }
          const float scale = fixed.scale * static_cast<float>(1 << (8 * (kDigits - 1 - d)));
          const std::uint32_t correction = correctionOf(plan, fixed.digits[d], sum);
          std::memcpy(to + std::int64_t{4} * height * steps, &correction, 4);
          std::memcpy(to + std::int64_t{4} * height * (steps + 1), &scale, 4);
          range.add(scale);
        }
      }
    };
  });
  return packed;
}

PackedOperand pack(std::span<const float> activations, const ProductPlan& plan,
                   const Execution& execution, PackedOperand&& old) {
  assert(plan.left.scale == nullptr && plan.depth > 0);
  if (plan.floats)
    return packActivations(activations, plan, execution, std::move(old));
  if (plan.digitRows)
    return packDigitRows(activations, plan, execution, std::move(old));
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  assert(rows * plan.depth == static_cast<std::int64_t>(activations.size()));
  PackedOperand packed{.side = Side::Left, .storage = PackedOperand::Storage::Digits};
  packed.rows = rows;
  const int steps = plan.steps();
  const std::int64_t record = std::int64_t{4} * (steps * kDigits + 2);
  packed.elements =
      PackedBytes(static_cast<std::size_t>(rows * plan.pieces * record), std::move(old.elements));
  forRows(packed, 1, execution, [&] {
    return [&](std::int64_t row, ExponentRange& range) {
      std::byte* to = packed.elements.data() + row * plan.pieces * record;
      for (std::int64_t p = 0; p < plan.pieces; ++p, to += record) {
        const std::int64_t begin = p * plan.piece;
        const auto size =
            static_cast<int>(std::clamp<std::int64_t>(plan.depth - begin, 0, plan.piece));
        const FixedPoint fixed(activations.data() + row * plan.depth + begin, size);
        for (int s = 0; s < steps; ++s)
          for (int d = 0; d < kDigits; ++d)
            std::memcpy(to + 4 * (s * kDigits + d), fixed.digits[d] + 4 * s, 4);
        const std::uint32_t correction =
            0u - static_cast<std::uint32_t>(plan.offset) * static_cast<std::uint32_t>(fixed.sum);
        std::memcpy(to + 4 * steps * kDigits, &correction, 4);
        std::memcpy(to + 4 * (steps * kDigits + 1), &fixed.scale, 4);
        range.add(fixed.scale);
      }
    };
  });
  return packed;
}

} // namespace octavo::kernels
