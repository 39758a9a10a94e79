// One operand of a scaled product, packed once in the kernels' layout and multiplied often.
//
// An integer of an element is its value divided by the format's quantum (E2M1: twice the value,
// E2M3: 8 times, E3M2: 16 times, INT8: the code). A *piece* is a section of K between block edges
// of both operands, 16 or 32 long; a wider block is several pieces with one scale. The last piece,
// and the last panel's columns beyond N, are padded with zeros.
//
// Storage of the left operand:
//  - Records: rows in tiles of 6, 4, 3, 2 or 1; one record for each tile and piece. A record has
//    for each step of K (4 bytes or 2 words) a dword for each row, then a correction for each row,
//    then an f32 scale for each row. The right side's integers have an offset added;
//    -offset * (sum of the row's integers) corrects it. Dot::BytesWrapped has one correction modulo
//    2^16 for the first two bytes of the dwords and one for the last two. A row of f32 activations
//    is three rows of digits, the greatest digit first.
//  - Digits: f32 in fixed point; one record for each row and piece. A record has for each step
//    three dwords, the greatest digit first; then the correction; then the scale.
//  - Rows: f32 row-major where they lie, in `activations`. Digits and Values of f32 activations
//    have `activations`, too.
//
// Storage of the right operand, whose rows (columns of C) are in panels of 16:
//  - Records: for each piece, for each step a dword for each column, with the offset; then 16 f32
//    scales.
//  - Nibbles (E2M1): 256 bytes for each 32 of K in the order that integerDirect reads; separately,
//    16 scale codes for each piece.
//
// Storage of both operands, for floats, in tiles (left) or panels of 16 rows (right):
//  - Codes: for each group of 32 along K and each k, a byte for each row, sign and magnitude. For
//    bf16 dot products: for each 4 of K a dword for each row; of each four such dwords, the lower
//    halves precede the upper halves. `scales` has an f32 for each row and group, `factors` an f32
//    for each row and block along K.
//  - Values: the same as f32 with scales folded in, for plain f32 and for formats that do not fit
//    into codes.
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

/// Bytes of a packed operand, owned or borrowed. Large allocations are aligned to pages of 2 MiB:
/// products of one row read a matrix once, and small pages would cost a tenth of the memory's rate.
class PackedBytes {
public:
  PackedBytes() = default;
  enum class Fill : std::uint8_t { Zero, None };
  explicit PackedBytes(std::size_t size, Fill fill = Fill::Zero)
      : PackedBytes(size, PackedBytes(), fill) {}
  /// Reuses the memory of `old` if it is large enough.
  PackedBytes(std::size_t size, PackedBytes&& old, Fill fill = Fill::Zero);
  /// Borrowed read-only bytes, such as a mapped file. `lender`, which is not null, keeps them
  /// alive. They are aligned to 64, and 64 more bytes after the last are readable.
  static PackedBytes lent(std::span<const std::byte> bytes, std::shared_ptr<const void> lender) {
    PackedBytes result;
    result.bytes = {const_cast<std::byte*>(bytes.data()), Free{std::move(lender)}};
    result.count = result.room = bytes.size();
    return result;
  }
  std::byte* data() { return bytes.get(); }
  const std::byte* data() const { return bytes.get(); }
  std::size_t size() const { return bytes ? count : 0; } ///< 0 after a move
  /// Sets the size to 0 but keeps the memory for reuse by a constructor with `old`.
  void clear() { count = 0; }

private:
  struct Free {
    std::shared_ptr<const void> lender; ///< null if the bytes are owned
    void operator()(std::byte* p) const {
      if (lender == nullptr)
        std::free(p);
    }
  };
  std::unique_ptr<std::byte[], Free> bytes;
  std::size_t count = 0, room = 0;
};

/// The division of rows into tiles: as many of the tallest height as fit, then smaller heights.
struct Tiling {
  std::int64_t rows;
  int tallest;

  struct Tile {
    std::int64_t first;
    int height;
  };
  /// The tile that contains `row`.
  Tile tileOf(std::int64_t row) const;
};

enum class Side : std::uint8_t { Left, Right };

/// Rows with values or scales far from 1, infinite or NaN, which f32 does not multiply accurately.
/// Their packed values are unspecified; DoubleProduct.h multiplies them in f64.
struct FarRows {
  std::vector<std::int64_t> rows = {}; ///< ascending
  std::vector<double> values = {};     ///< K per row; empty for f32, which is in `activations`

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
  ScaleCodes scaleCodes = ScaleCodes::E8M0; ///< Nibbles: the format of `scales`
  std::int64_t rows = 0;
  PackedBytes elements = {};
  PackedBytes scales = {}; ///< Nibbles: scale codes; Codes: f32 scales
  float outer = 1.0f;      ///< the outer scale
  /// Codes and Values: factors[block * paddedRows + row]; empty if all are 1.
  std::vector<float> factors = {};
  std::int64_t paddedRows = 0;
  FarRows far = {};
  /// Left, f32: the first row of the activations, and the stride between rows in floats.
  const float* activations = nullptr;
  std::ptrdiff_t activationStride = 0;
  PackedBytes copiedActivations = {}; ///< the activations, if they were copied
  /// The range of exponents (floor of log2) of the scales of blocks that are not zero, or of
  /// `factors` that are finite and not 0, without far rows. Both are 0 if there are none.
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

/// An empty operand that keeps the memory of `old` for reuse.
PackedOperand emptied(PackedOperand&& old, Side side, PackedOperand::Storage storage);

/// Sets packed.far to the rows of the matrix for which `isFar` is not 0.
void keepFarRows(const ScaledView& matrix, std::span<const std::uint8_t> isFar,
                 PackedOperand& packed);

/// The values of a narrow format's codes as f32. Bits above the format's width are ignored.
const std::array<float, 256>& decodedValues(const format::ElementFormat& element);

} // namespace octavo::kernels
