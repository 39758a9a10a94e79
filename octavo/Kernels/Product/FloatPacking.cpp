#include "octavo/Kernels/Product/ProductFloat.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace octavo::kernels {

namespace {

/// Greatest distance of a row's exponents from 0 for which it is packed as it is. Products of two
/// such rows, and their sums, are far from both ends of f32.
constexpr int kFarExponent = 60;

using Sixteen = std::uint8_t __attribute__((vector_size(16)));

bool any(Sixteen bytes) {
  std::uint64_t halves[2];
  std::memcpy(halves, &bytes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/// The upper half of kRows rows interleaved with the lower one.
template <int kRows> void interleaveHalves(const Sixteen (&x)[kRows], Sixteen (&y)[kRows]) {
#pragma unroll
  for (int i = 0; i < kRows / 2; ++i) {
    y[2 * i] = __builtin_shufflevector(x[i], x[i + kRows / 2], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                       21, 6, 22, 7, 23);
    y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + kRows / 2], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                           28, 13, 29, 14, 30, 15, 31);
  }
}

/// One group of each row that lies interleaved.
using GroupRows = const std::uint8_t* [kPanelColumns];

/// kRows (8 or 16) by 16 bytes, rows to columns: as many rounds as double one row to all.
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

/// One group of rows of codes, by K.
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
  // 8 bytes of each k, of which the next k overwrites what is too much; at the end none, for what
  // follows may be another thread's.
  int k = 0;
  for (; (kGroup - k) * lanes >= 8; ++k)
    std::memcpy(to + k * lanes, columns + k * 8, 8);
  for (; k < kGroup; ++k)
    for (int lane = 0; lane < lanes; ++lane)
      to[k * lanes + lane] = columns[k * 8 + lane];
}

/// The same for dot products of bf16: pairs of four rows, or of a row's four next to one another.
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

/// The rows that lie interleaved: a tile on the left, a panel on the right, where the last ones may
/// not be there.
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
    least = std::min(least, exponent);
    greatest = std::max(greatest, exponent);
  }
};

/// Those of rows, where one is not 0.
void keepShifts(std::span<const std::int16_t> shifts, PackedOperand& packed) {
  if (std::ranges::any_of(shifts, [](std::int16_t shift) { return shift != 0; }))
    packed.shifts.assign(shifts.begin(), shifts.end());
}

/// The exponents of its factors; 0, those of 1, where it has none that is a number but 0.
void keepFactorRange(PackedOperand& packed) {
  Exponents exponents;
  for (const float factor : packed.factors)
    exponents.add(factor);
  if (exponents.least <= exponents.greatest) {
    packed.leastExponent = exponents.least;
    packed.greatestExponent = exponents.greatest;
  }
}

class FloatPacking {
public:
  FloatPacking(const ScaledView& matrix, Side side, const ProductPlan& plan)
      : matrix(matrix), plan(plan), side(side), element(*matrix.element), scale(*matrix.scale),
        kernels(floatKernels(plan)), grid((plan.depth + matrix.along - 1) / matrix.along),
        tiling{matrix.rows, kernels.tallest}, decoding(floatFormat(element, kernels.decodesHalves)),
        isFolded(scale.name != "f32"),
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
    ThreadVector<std::int16_t> shifts(static_cast<std::size_t>(rows), 0);
    // A task begins where a tile and a panel do.
    constexpr std::size_t kGrain = 96;
    forRanges(
        static_cast<std::size_t>(rows), kGrain, execution, [&](std::size_t begin, std::size_t end) {
          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end);) {
            const Lanes lanes = lanesOf(row);
            packLanes(lanes, packed, shifts.data() + row);
            row += lanes.present;
          }
        });
    keepShifts(shifts, packed);
    keepFactorRange(packed);
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

  void packLanes(const Lanes& lanes, PackedOperand& packed, std::int16_t* shifts) const {
    if (storesValues)
      packValues(lanes, packed, shifts);
    else
      packCodes(lanes, packed, shifts);
    if (isFolded)
      return;
    const std::int64_t block = plan.groupsInBlock * kGroup;
    const bool isOnePerBlock = matrix.along == block;
    for (std::int64_t row = lanes.first; row < lanes.first + lanes.present; ++row) {
      const std::int64_t scales = gridRow(row);
      for (std::int64_t b = 0; b < blocks(); ++b)
        packed.factors[b * packed.paddedRows + row] =
            scaleOf(scales + (isOnePerBlock ? b : b * block / matrix.along));
    }
  }

  /// 2^-this is what a row is multiplied by.
  int shiftOf(const Exponents& exponents) const {
    const bool near = exponents.least > exponents.greatest ||
                      (exponents.least + element.quantumExponent() >= -kFarExponent &&
                       exponents.greatest + element.emax() <= kFarExponent);
    return near ? 0 : exponents.greatest;
  }

  void packCodes(const Lanes& lanes, PackedOperand& packed, std::int16_t* shifts) const {
    std::byte* to = packed.elements.data() + lanes.first * plan.groups * kGroup;
    auto* scales = reinterpret_cast<float*>(packed.scales.data()) + lanes.first * plan.groups;
    for (int lane = 0; lane < lanes.present; ++lane)
      shifts[lane] =
          static_cast<std::int16_t>(packScales(lanes.first + lane, lanes.count, scales + lane));
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
      // A NaN makes all that its row meets NaN, and so does a scale. Then no code needs a look.
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

  /// What a row's groups are multiplied by, `stride` apart; the shift of the row.
  int packScales(std::int64_t row, int stride, float* scales) const {
    if (!isFolded) {
      for (std::int64_t g = 0; g < plan.groups; ++g)
        scales[g * stride] = decoding.unit;
      return 0;
    }
    // Of positive numbers bits are in order, and all others are outside of the normal ones.
    constexpr std::uint32_t kLeastNormal = 1u << 23, kInfinity = 255u << 23;
    std::uint32_t least = ~0u, greatest = 0;
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      float value = scaleAt(row, g * kGroup);
      // Blocks of zeros, as relu and the edges of images give, have the least scale and take any.
      if (std::bit_cast<std::uint32_t>(value) < kLeastNormal && isZeroGroup(row, g))
        value = 1;
      least = std::min(least, std::bit_cast<std::uint32_t>(value));
      greatest = std::max(greatest, std::bit_cast<std::uint32_t>(value));
      scales[g * stride] = value * decoding.unit;
    }
    if (least >= kLeastNormal && greatest < kInfinity &&
        shiftOf({static_cast<int>(least >> 23) - 127, static_cast<int>(greatest >> 23) - 127}) == 0)
      return 0;
    Exponents all;
    for (std::int64_t g = 0; g < plan.groups; ++g)
      all.add(scaleAt(row, g * kGroup));
    if (shiftOf(all) == 0)
      return 0;
    // Far from 1, perhaps only the scale of a zero block, which takes any.
    Exponents exponents;
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      float value = scaleAt(row, g * kGroup);
      if (isZeroGroup(row, g) && std::isfinite(value))
        value = 1;
      else
        exponents.add(value);
      scales[g * stride] = value;
    }
    const int shift = shiftOf(exponents);
    for (std::int64_t g = 0; g < plan.groups; ++g)
      scales[g * stride] = std::ldexp(scales[g * stride], -shift) * decoding.unit;
    return shift;
  }

  bool isZeroGroup(std::int64_t row, std::int64_t g) const {
    const std::uint8_t* codes = group(row, g);
    if (!isMapped && plan.depth - g * kGroup >= kGroup)
      return !any(magnitudes(codes));
    return std::all_of(codes, codes + std::min<std::int64_t>(kGroup, plan.depth - g * kGroup),
                       [&](std::uint8_t code) { return (signAndMagnitude[code] & 0x7F) == 0; });
  }

  void packValues(const Lanes& lanes, PackedOperand& packed, std::int16_t* shifts) const {
    auto* to =
        reinterpret_cast<float*>(packed.elements.data()) + lanes.first * plan.groups * kGroup;
    for (int lane = 0; lane < lanes.present; ++lane) {
      const std::int64_t row = lanes.first + lane;
      const std::uint8_t* codes = matrix.elements + row * plan.depth;
      Exponents exponents;
      for (std::int64_t begin = 0; isFolded && begin < plan.depth; begin += matrix.along)
        exponents.add(scaleAt(row, begin));
      const int shift = shiftOf(exponents);
      const std::int64_t run = isFolded ? matrix.along : plan.depth;
      for (std::int64_t begin = 0; begin < plan.depth; begin += run) {
        const float value = isFolded ? std::ldexp(scaleAt(row, begin), -shift) : 1.0f;
        for (std::int64_t k = begin; k < std::min(begin + run, plan.depth); ++k)
          to[k * lanes.count + lane] = elementValues[codes[k]] * value;
      }
      shifts[lane] = static_cast<std::int16_t>(shift);
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
  bool isFolded, storesValues, isMapped;
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
  ThreadVector<std::int16_t> shifts(static_cast<std::size_t>(rows), 0);
  const Tiling tiling{rows, floatKernels(plan).tallest};
  forRanges(static_cast<std::size_t>(rows), 8, execution, [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
      const auto [first, height] = tiling.tileOf(row);
      const float* values = activations.data() + row * plan.depth;
      float amax = 0;
      for (std::int64_t k = 0; k < plan.depth; ++k)
        amax = std::max(amax, std::isfinite(values[k]) ? std::fabs(values[k]) : 0);
      const int exponent = amax == 0 ? 0 : std::ilogb(amax);
      const int shift = std::abs(exponent) <= kFarExponent ? 0 : exponent;
      shifts[row] = static_cast<std::int16_t>(shift);
      float* to = elements + first * plan.groups * kGroup + (row - first);
      for (std::int64_t k = 0; k < plan.depth; ++k)
        to[k * height] = shift == 0 ? values[k] : std::ldexp(values[k], -shift);
    }
  });
  keepShifts(shifts, packed);
  return packed;
}

} // namespace octavo::kernels
