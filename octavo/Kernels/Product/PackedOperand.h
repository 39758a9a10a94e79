// One operand of a scaled product in the kernels' own layout: packed once, multiplied often.
//
// Integers are the elements over their quantum (E2M1: twice the value, E2M3: 8 times, E3M2: 16
// times, INT8: its code). A *piece* is what K is cut into by the blocks of both operands, 16 or 32
// long; wider blocks are several pieces with one scale. Zeros fill up the last piece, and columns
// of the last panel beyond N.
//
//  left     rows in tiles of 6, 4, 3, 2 or 1; for each tile and piece one record: for each step of
//  K
//           (4 of bytes, 2 of words) a dword for each row; a correction for each row; an f32 scale
//           for each row. The unsigned side has an offset added; -offset * (sum of the row's
//           integers) is the correction that makes up for it; of Dot::BytesWrapped, one modulo 2^16
//           for the first and one for the last two bytes of the dwords. Of f32 activations, a row
//           is three rows of digits, the greatest first.
//  right    rows (columns of C) in panels of 16. Records: for each piece, for each step a dword for
//           each column, with the offset; then 16 f32 scales. Nibbles (E2M1): 256 bytes for each 32
//           of K, as integerDirect says; apart from them, for each piece 16 scale codes.
//  digits   left, f32 in fixed point: for each row and piece one record: for each step three
//           dwords, the greatest digit first; the correction; the scale.
//  codes    floats: in tiles (left) or panels of 16 rows, for each group of 32 along K and each k a
//           byte for each row, sign and magnitude (for dot products of bf16: for each 4 of K a
//           dword for each row, of each four such dwords the lower halves before the upper ones);
//           in `scales` an f32 for each row and group, in `factors` one for each row of a block
//           along K.
//  values   the same as f32, scales folded: plain f32, and formats that codes do not fit.
//  rows     left, f32 row-major as they are: `activations`, which digits and values of f32 have
//  too.
#pragma once

#include "octavo/Kernels/Product/ProductKernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace octavo::kernels {

/// Bytes, aligned to a page of 2 MiB where there are so many: products of one row read a
/// matrix once, and small pages cost them a tenth of the memory's rate.
class PackedBytes {
public:
  PackedBytes() = default;
  enum class Fill : std::uint8_t { Zero, None };
  explicit PackedBytes(std::size_t size, Fill fill = Fill::Zero)
      : PackedBytes(size, PackedBytes(), fill) {}
  /// In the memory of `old` if there is enough of it.
  PackedBytes(std::size_t size, PackedBytes&& old, Fill fill = Fill::Zero);
  /// Bytes to read that somebody else has, a file that is mapped, and has for as long as `lender`,
  /// which is not null, is there: aligned to 64, with as many after the last.
  static PackedBytes lent(std::span<const std::byte> bytes, std::shared_ptr<const void> lender) {
    PackedBytes result;
    result.bytes = {const_cast<std::byte*>(bytes.data()), Free{std::move(lender)}};
    result.count = result.room = bytes.size();
    return result;
  }
  std::byte* data() { return bytes.get(); }
  const std::byte* data() const { return bytes.get(); }
  std::size_t size() const { return bytes ? count : 0; } ///< 0 after a move
  /// Has no bytes any more, but their memory, for others (above).
  void clear() { count = 0; }

private:
  struct Free {
    std::shared_ptr<const void> lender; ///< null where they are its own
    void operator()(std::byte* p) const {
      if (lender == nullptr)
        std::free(p);
    }
  };
  std::unique_ptr<std::byte[], Free> bytes;
  std::size_t count = 0, room = 0;
};

/// How rows are cut into tiles: as many of the tallest as there are, then ever smaller ones.
struct Tiling {
  std::int64_t rows;
  int tallest;

  struct Tile {
    std::int64_t first;
    int height;
  };
  /// The tile that has `row`, or begins there.
  Tile tileOf(std::int64_t row) const;
};

enum class Side : std::uint8_t { Left, Right };

/// Rows that f32 does not multiply well: whose values, or scales, are far from 1 or no numbers.
/// Where they are packed they are any; DoubleProduct.h multiplies them.
struct FarRows {
  std::vector<std::int64_t> rows = {}; ///< ascending
  std::vector<double> values = {};     ///< K of each; none of f32, which `activations` has

  bool has(std::int64_t row) const { return std::ranges::binary_search(rows, row); }
  bool hasAny(std::int64_t begin, std::int64_t end) const {
    const auto first = std::ranges::lower_bound(rows, begin);
    return first != rows.end() && *first < end;
  }
  const double* valuesOf(std::int64_t row, std::int64_t depth) const {
    const auto at = std::ranges::lower_bound(rows, row);
    return at != rows.end() && *at == row ? values.data() + (at - rows.begin()) * depth : nullptr;
  }
  void clear() {
    rows.clear();
    values.clear();
  }
};

struct PackedOperand {
  enum class Storage : std::uint8_t { Records, Nibbles, Digits, Codes, Values, Rows };
  Side side;
  Storage storage;
  ScaleCodes scaleCodes = ScaleCodes::E8M0; ///< of nibbles
  std::int64_t rows = 0;
  PackedBytes elements = {};
  PackedBytes scales = {}; ///< of nibbles
  float outer = 1.0f;
  /// Codes and values: factors[block * paddedRows + row]; empty where all are 1.
  std::vector<float> factors = {};
  std::int64_t paddedRows = 0;
  FarRows far = {};
  /// Left, f32: the first row as it is, and f32 between two; and the memory of a copy.
  const float* activations = nullptr;
  std::ptrdiff_t activationStride = 0;
  PackedBytes copiedActivations = {};
  /// The exponents (floor of log2) of the scales of blocks that are not zero, or of `factors` that
  /// are numbers and not 0, of rows that are not far; both 0 where there are none.
  int leastExponent = 0;
  int greatestExponent = 0;
  /// Integers: a scale that is NaN, infinite, zero or a subnormal f32, over a block that is not
  /// zero.
  bool hasUnusualScale = false;

  float factorOf(std::int64_t block, std::int64_t row) const {
    return factors.empty() ? 1.0f : factors[block * paddedRows + row];
  }

  std::size_t bytes() const {
    return elements.size() + scales.size() + factors.size() * sizeof(float) +
           far.values.size() * sizeof(double);
  }
};

struct ScaledView;

/// One with nothing in it yet, which has the memory of `old` for what comes.
PackedOperand emptied(PackedOperand&& old, Side side, PackedOperand::Storage storage);

/// Gives an operand its far rows, those of the matrix for which `isFar` is not 0.
void keepFarRows(const ScaledView& matrix, std::span<const std::uint8_t> isFar,
                 PackedOperand& packed);

/// The values of a narrow format's codes, as f32; of codes beyond its width, of their low bits.
const std::array<float, 256>& decodedValues(const format::ElementFormat& element);

} // namespace octavo::kernels
