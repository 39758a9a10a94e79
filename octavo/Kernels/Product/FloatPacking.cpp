#include "octavo/Kernels/Product/ProductFloat.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

namespace octavo::kernels {

namespace {

/// The largest |exponent| of a row that is not far: products of two such rows are normal numbers.
constexpr int kFarExponent = 60;

using Sixteen = std::uint8_t __attribute__((vector_size(16)));

bool any(Sixteen bytes) {
  std::uint64_t halves[2];
  std::memcpy(halves, &bytes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/// Interleaves the upper half of kRows rows with the lower half.
template <int kRows> void interleaveHalves(const Sixteen (&x)[kRows], Sixteen (&y)[kRows]) {
#pragma unroll
  for (int i = 0; i < kRows / 2; ++i) {
    y[2 * i] = __builtin_shufflevector(x[i], x[i + kRows / 2], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                       21, 6, 22, 7, 23);
    y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + kRows / 2], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                           28, 13, 29, 14, 30, 15, 31);
  }
}

/// One group of each interleaved row.
using GroupRows = const std::uint8_t* [kPanelColumns];

/// Transposes kRows (8 or 16) by 16 bytes, in log2(kRows) rounds.
template <int kRows> void transpose(const GroupRows& rows, int firstColumn, std::byte* to) {
  Sixteen x[kRows], y[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i)
    std::memcpy(&x[i], rows[i] + firstColumn, 16);
  interleaveHalves(x, y);
  interleaveHalves(y, x);
  interleaveHalves(x, y);
  if constexpr (kRows == 16)
    interleaveHalves(y, x);
  std::memcpy(to, kRows == 16 ? x : y, sizeof x);
}

/// Packs one group of rows of codes, ordered by K.
void interleave(const GroupRows& rows, int lanes, std::byte* to) {
  if (lanes == 1) {
    std::memcpy(to, rows[0], kGroup);
    return;
  }
  if (lanes == kPanelColumns) {
    for (int k = 0; k < kGroup; k += 16)
      transpose<16>(rows, k, to + k * kPanelColumns);
    return;
  }
  std::byte columns[kGroup * 8];
  for (int k = 0; k < kGroup; k += 16)
    transpose<8>(rows, k, columns + k * 8);
  // Stores 8 bytes for each k; the next k overwrites the excess. The last k stores no excess: the
  // bytes after it may belong to another thread.
  int k = 0;
  for (; (kGroup - k) * lanes >= 8; ++k)
    std::memcpy(to + k * lanes, columns + k * 8, 8);
  for (; k < kGroup; ++k)
    for (int lane = 0; lane < lanes; ++lane)
      to[k * lanes + lane] = columns[k * 8 + lane];
}

/// Packs one group for bf16 dot products, in the order of Codes in PackedOperand.h.
void interleavePairs(const GroupRows& rows, int lanes, std::byte* to) {
  using Pairs = std::uint16_t __attribute__((vector_size(16)));
  if (lanes % 4 == 0) {
    for (int k = 0; k < kGroup; k += 16)
      for (int lane = 0; lane < lanes; lane += 4) {
        Pairs row[4];
        for (int i = 0; i < 4; ++i)
          std::memcpy(&row[i], rows[lane + i] + k, 16);
        const auto lower = [](Pairs a, Pairs b) {
          return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        };
        const auto upper = [](Pairs a, Pairs b) {
          return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        };
        const Pairs even[] = {lower(row[0], row[2]), upper(row[0], row[2])};
        const Pairs odd[] = {lower(row[1], row[3]), upper(row[1], row[3])};
        std::byte* at = to + k * lanes + lane * 4;
        for (int half = 0; half < 2; ++half, at += 8 * lanes) {
          const Pairs first = lower(even[half], odd[half]), second = upper(even[half], odd[half]);
          std::memcpy(at, &first, 16);
          std::memcpy(at + 4 * lanes, &second, 16);
        }
      }
    return;
  }
  int lane = 0, k = 0;
  for (int dword = 0; dword < kGroup / 4 * lanes; ++dword) {
    std::byte* at = to + dword / 4 * 16 + dword % 4 * 2;
    std::memcpy(at, rows[lane] + k, 2);
    std::memcpy(at + 8, rows[lane] + k + 2, 2);
    if (++lane == lanes) {
      lane = 0;
      k += 4;
    }
  }
}

/// The rows that are interleaved: a tile on the left, or a panel on the right, whose last rows may
/// be missing.
struct Lanes {
  std::int64_t first;
  int count;
  int present;
};

/// The exponents of a row's scales over elements that are not zero.
struct Exponents {
  int least = std::numeric_limits<int>::max();
  int greatest = std::numeric_limits<int>::min();

  void add(float value) {
    int exponent = static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xFF) - 127;
    if (exponent == 128 || value == 0)
      return;
    if (exponent == -127)
      exponent = std::ilogb(value);
    add({exponent, exponent});
  }
  void add(const Exponents& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

class FloatPacking {
public:
  FloatPacking(const ScaledView& matrix, Side side, const ProductPlan& plan)
      : matrix(matrix), plan(plan), side(side), element(*matrix.element), scale(*matrix.scale),
        kernels(floatKernels(plan)), grid((plan.depth + matrix.along - 1) / matrix.along),
        tiling{matrix.rows, kernels.tallest}, decoding(floatFormat(element, kernels.decodesHalves)),
        isFolded(scale.name != "f32"),
        hasExponents(scale.name == "e8m0fnu" && matrix.scaleBytes == 1 && matrix.along == kGroup),
        storesValues(side == Side::Left ? plan.leftAsValues : plan.rightAsValues) {
    for (std::uint32_t code = 0; code < 256; ++code) {
      const std::uint32_t sign = (code & element.signMask()) ? 0x80 : 0;
      const auto magnitude = static_cast<std::uint32_t>(code & (element.signMask() - 1));
      signAndMagnitude[code] = static_cast<std::uint8_t>(sign | magnitude << decoding.codeShift);
    }
    isMapped = element.width() < 8 || decoding.codeShift != 0;
  }

  PackedOperand run(const Execution& execution, PackedOperand&& old) const {
    using Storage = PackedOperand::Storage;
    const std::int64_t rows = matrix.rows;
    PackedOperand packed =
        emptied(std::move(old), side, storesValues ? Storage::Values : Storage::Codes);
    packed.rows = rows;
    packed.outer = matrix.outer;
    packed.paddedRows = (rows + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
    const std::int64_t stored = side == Side::Left ? rows : packed.paddedRows;
    const auto groups = static_cast<std::size_t>(stored * plan.groups);
    packed.elements = PackedBytes(groups * kGroup * (storesValues ? sizeof(float) : 1),
                                  std::move(packed.elements),
                                  storesValues ? PackedBytes::Fill::Zero : PackedBytes::Fill::None);
    if (!storesValues)
      packed.scales = PackedBytes(groups * sizeof(float), std::move(packed.scales));
    if (!isFolded)
      packed.factors.assign(static_cast<std::size_t>(blocks() * packed.paddedRows), 0.0f);
    ThreadVector<std::uint8_t> isFar(static_cast<std::size_t>(rows), 0);
    Exponents exponents;
    std::mutex joining;
    // A task begins at a multiple of the rows of a tile and of a panel.
    constexpr std::size_t kGrain = 96;
    forRanges(
        static_cast<std::size_t>(rows), kGrain, execution, [&](std::size_t begin, std::size_t end) {
          Exponents here;
          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end);) {
            const Lanes lanes = lanesOf(row);
            packLanes(lanes, packed, isFar.data() + row, here);
            row += lanes.present;
          }
          const std::lock_guard lock(joining);
          exponents.add(here);
        });
    if (exponents.least <= exponents.greatest) {
      packed.leastExponent = exponents.least;
      packed.greatestExponent = exponents.greatest;
    }
    keepFarRows(matrix, isFar, packed);
    return packed;
  }

private:
  std::int64_t blocks() const {
    return (plan.groups + plan.groupsInBlock - 1) / plan.groupsInBlock;
  }
  Lanes lanesOf(std::int64_t row) const {
    if (side == Side::Right)
      return {row, kPanelColumns,
              static_cast<int>(std::min<std::int64_t>(kPanelColumns, matrix.rows - row))};
    const int height = tiling.tileOf(row).height;
    return {row, height, height};
  }
  float scaleAt(std::int64_t row, std::int64_t k) const {
    // Divisions cost more than the packing of a group.
    return scaleOf(gridRow(row) + (matrix.along == kGroup ? k / kGroup : k / matrix.along));
  }
  std::int64_t gridRow(std::int64_t row) const {
    return (matrix.across == 1 ? row : row / matrix.across) * grid;
  }
  float scaleOf(std::int64_t at) const {
    const std::uint32_t code = matrix.scaleBytes == 1
                                   ? static_cast<const std::uint8_t*>(matrix.scales)[at]
                                   : static_cast<const std::uint32_t*>(matrix.scales)[at];
    return scale.width() <= 8 ? scaleValues[code] : std::bit_cast<float>(code);
  }

  void packLanes(const Lanes& lanes, PackedOperand& packed, std::uint8_t* isFar,
                 Exponents& exponents) const {
    if (storesValues)
      packValues(lanes, packed, isFar, exponents);
    else
      packCodes(lanes, packed, isFar, exponents);
    if (isFolded)
      return;
    const std::int64_t block = plan.groupsInBlock * kGroup;
    const bool isOnePerBlock = matrix.along == block;
    for (std::int64_t row = lanes.first; row < lanes.first + lanes.present; ++row) {
      const std::int64_t scales = gridRow(row);
      for (std::int64_t b = 0; b < blocks(); ++b) {
        const float factor = scaleOf(scales + (isOnePerBlock ? b : b * block / matrix.along));
        packed.factors[b * packed.paddedRows + row] = factor;
        exponents.add(factor);
      }
    }
  }

  bool isNear(const Exponents& exponents) const {
    return exponents.least > exponents.greatest ||
           (exponents.least + element.quantumExponent() >= -kFarExponent &&
            exponents.greatest + element.emax() <= kFarExponent);
  }

  void packCodes(const Lanes& lanes, PackedOperand& packed, std::uint8_t* isFar,
                 Exponents& exponents) const {
    std::byte* to = packed.elements.data() + lanes.first * plan.groups * kGroup;
    auto* scales = reinterpret_cast<float*>(packed.scales.data()) + lanes.first * plan.groups;
    for (int lane = 0; lane < lanes.present; ++lane)
      isFar[lane] = packScales(lanes.first + lane, lanes.count, scales + lane, exponents);
    static constexpr std::uint8_t kZeros[kGroup] = {};
    std::uint8_t copies[kPanelColumns][kGroup];
    GroupRows rows;
    std::ranges::fill(rows, kZeros);
    for (std::int64_t g = 0; g < plan.groups; ++g, to += lanes.count * kGroup) {
      const auto size =
          static_cast<std::size_t>(std::min<std::int64_t>(kGroup, plan.depth - g * kGroup));
      Sixteen most{};
      for (int lane = 0; lane < lanes.present; ++lane) {
        rows[lane] = group(lanes.first + lane, g);
        if (isMapped || size < kGroup) {
          std::memset(copies[lane], 0, kGroup);
          if (isMapped)
            for (std::size_t k = 0; k < size; ++k)
              copies[lane][k] = signAndMagnitude[rows[lane][k]];
          else
            std::memcpy(copies[lane], rows[lane], size);
          rows[lane] = copies[lane];
        }
        most = __builtin_elementwise_max(most, magnitudes(rows[lane]));
      }
      // A NaN, like a NaN scale, makes every product of its row NaN; the codes then do not matter.
      if (element.specials == format::Specials::NanOnly && any((Sixteen)(most == 0xFE)))
        for (int lane = 0; lane < lanes.present; ++lane)
          if (any((Sixteen)(magnitudes(rows[lane]) == 0xFE)))
            scales[g * lanes.count + lane] = std::numeric_limits<float>::quiet_NaN();
      if (kernels.dot == FloatDot::Bf16Pairs)
        interleavePairs(rows, lanes.count, to);
      else
        interleave(rows, lanes.count, to);
    }
  }

  const std::uint8_t* group(std::int64_t row, std::int64_t group) const {
    return matrix.elements + row * plan.depth + group * kGroup;
  }
  /// Twice the greatest magnitudes of a group of signs and magnitudes: a NaN of e4m3fn is 0xFE.
  static Sixteen magnitudes(const std::uint8_t* codes) {
    Sixteen lower, upper;
    std::memcpy(&lower, codes, 16);
    std::memcpy(&upper, codes + 16, 16);
    return __builtin_elementwise_max(lower + lower, upper + upper);
  }

  /// Writes the factors of a row's groups, `stride` apart. Returns whether the row is far; if not,
  /// its exponents are added to the range.
  bool packScales(std::int64_t row, int stride, float* scales, Exponents& exponents) const {
    if (!isFolded) {
      for (std::int64_t g = 0; g < plan.groups; ++g)
        scales[g * stride] = decoding.unit;
      return false;
    }
    if (hasExponents && packExponents(row, stride, scales, exponents))
      return false;
    // The bits of positive floats are ordered; all other floats are outside the range of normal
    // ones.
    constexpr std::uint32_t kLeastNormal = 1u << 23, kInfinity = 255u << 23;
    std::uint32_t least = ~0u, greatest = 0;
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      float value = scaleAt(row, g * kGroup);
      // Zero blocks, such as relu and image borders produce, have the least scale and accept any.
      if (std::bit_cast<std::uint32_t>(value) < kLeastNormal && isZeroGroup(row, g))
        value = 1;
      least = std::min(least, std::bit_cast<std::uint32_t>(value));
      greatest = std::max(greatest, std::bit_cast<std::uint32_t>(value));
      scales[g * stride] = value * decoding.unit;
    }
    Exponents ofRow{static_cast<int>(least >> 23) - 127, static_cast<int>(greatest >> 23) - 127};
    if (least >= kLeastNormal && greatest < kInfinity && isNear(ofRow)) {
      exponents.add(ofRow);
      return false;
    }
    // The scale is NaN or far from 1. It may also be that of a zero block, which accepts any scale.
    ofRow = {};
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      float value = scaleAt(row, g * kGroup);
      if (isZeroGroup(row, g) && std::isfinite(value))
        value = 1;
      else
        ofRow.add(value);
      scales[g * stride] = value * decoding.unit;
    }
    if (isNear(ofRow)) {
      exponents.add(ofRow);
      return false;
    }
    for (std::int64_t g = 0; g < plan.groups; ++g)
      scales[g * stride] = decoding.unit;
    return true;
  }

  /// The same if all scales are normal numbers near 1 and their codes are f32 exponents.
  bool packExponents(std::int64_t row, int stride, float* scales, Exponents& exponents) const {
    const std::uint8_t* codes = static_cast<const std::uint8_t*>(matrix.scales) + gridRow(row);
    std::uint8_t least = 255, greatest = 0;
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      least = std::min(least, codes[g]);
      greatest = std::max(greatest, codes[g]);
    }
    const Exponents ofRow{least - 127, greatest - 127};
    if (least == 0 || greatest == 255 || !isNear(ofRow))
      return false;
    for (std::int64_t g = 0; g < plan.groups; ++g)
      scales[g * stride] = std::bit_cast<float>(std::uint32_t{codes[g]} << 23) * decoding.unit;
    exponents.add(ofRow);
    return true;
  }

  bool isZeroGroup(std::int64_t row, std::int64_t g) const {
    const std::uint8_t* codes = group(row, g);
    if (!isMapped && plan.depth - g * kGroup >= kGroup)
      return !any(magnitudes(codes));
    return std::all_of(codes, codes + std::min<std::int64_t>(kGroup, plan.depth - g * kGroup),
                       [&](std::uint8_t code) { return (signAndMagnitude[code] & 0x7F) == 0; });
  }

  void packValues(const Lanes& lanes, PackedOperand& packed, std::uint8_t* isFar,
                  Exponents& exponents) const {
    auto* to =
        reinterpret_cast<float*>(packed.elements.data()) + lanes.first * plan.groups * kGroup;
    const std::int64_t run = isFolded ? matrix.along : plan.depth;
    for (int lane = 0; lane < lanes.present; ++lane) {
      const std::int64_t row = lanes.first + lane;
      const std::uint8_t* codes = matrix.elements + row * plan.depth;
      Exponents ofRow;
      for (std::int64_t begin = 0; begin < plan.depth; begin += run) {
        const float value = isFolded ? scaleAt(row, begin) : 1.0f;
        bool isZero = true;
        for (std::int64_t k = begin; k < std::min(begin + run, plan.depth); ++k) {
          to[k * lanes.count + lane] = elementValues[codes[k]] * value;
          isZero &= elementValues[codes[k]] == 0;
        }
        if (isFolded && !isZero)
          ofRow.add(value);
      }
      isFar[lane] = !isNear(ofRow);
      if (isNear(ofRow))
        exponents.add(ofRow);
    }
  }

  const ScaledView& matrix;
  const ProductPlan& plan;
  Side side;
  const ElementFormat& element;
  const ElementFormat& scale;
  const FloatKernels& kernels;
  std::int64_t grid;
  Tiling tiling;
  const FloatFormat& decoding;
  bool isFolded;
  bool hasExponents; ///< each group has a scale, a byte that is an exponent
  bool storesValues, isMapped;
  std::array<std::uint8_t, 256> signAndMagnitude;
  const std::array<float, 256>& elementValues = decodedValues(element);
  const std::array<float, 256>& scaleValues = decodedValues(scale);
};

} // namespace

PackedOperand packFloats(const ScaledView& matrix, Side side, const ProductPlan& plan,
                         const Execution& execution, PackedOperand&& old) {
  return FloatPacking(matrix, side, plan).run(execution, std::move(old));
}

PackedOperand packActivations(std::span<const float> activations, const ProductPlan& plan,
                              const Execution& execution, PackedOperand&& old) {
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  PackedOperand packed = emptied(std::move(old), Side::Left, PackedOperand::Storage::Values);
  packed.rows = rows;
  packed.paddedRows = (rows + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
  packed.elements =
      PackedBytes(static_cast<std::size_t>(rows * plan.groups) * kGroup * sizeof(float),
                  std::move(packed.elements));
  auto* elements = reinterpret_cast<float*>(packed.elements.data());
  const Tiling tiling{rows, floatKernels(plan).tallest};
  forRanges(static_cast<std::size_t>(rows), 8, execution, [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
      const auto [first, height] = tiling.tileOf(row);
      const float* values = activations.data() + row * plan.depth;
      float* to = elements + first * plan.groups * kGroup + (row - first);
      for (std::int64_t k = 0; k < plan.depth; ++k)
        to[k * height] = values[k];
    }
  });
  return packed;
}

} // namespace octavo::kernels
