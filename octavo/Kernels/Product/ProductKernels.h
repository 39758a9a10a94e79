// The kernels of one instruction set for products of scaled matrices: the innermost loops, on
// packed memory. The loops around them (cache blocks, threads) are compiled once for the baseline:
// ProductInteger.cpp, ProductFloat.cpp. PackedOperand.h defines the layout of the memory.
#pragma once

#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/Product/Epilogue.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Columns of a panel: rows of the right operand that are interleaved in memory.
inline constexpr int kPanelColumns = 16;
/// Bytes of a step along K in a panel: one dword per column.
inline constexpr int kStepBytes = kPanelColumns * 4;

/// One tile of C: `height` rows by `panels` panels, over consecutive records (pieces of K).
struct TileArguments {
  const std::byte* left;      ///< the tile's first record
  const std::byte* next;      ///< the start of the next tile's left operand, to be prefetched
  const std::byte* right;     ///< the first panel's first record
  std::ptrdiff_t rightStride; ///< bytes between panels
  std::int64_t records;
  std::int64_t recordsInSum; ///< Finish::Doubles: records of one exact sum
  float* c;                  ///< the kernel adds to it, unless `fresh`
  bool fresh;                ///< true: `c` is uninitialized, and sums start from +0
  std::ptrdiff_t stride;     ///< floats between rows of C
  std::int32_t quantum;      ///< the products' unit is 2^quantum
};

/// One tile of rows by one panel of C, with the right operand read directly from 4-bit storage.
struct DirectArguments {
  const std::byte* left;
  const std::uint8_t* elements; ///< 256 bytes per group of 32 along K
  const std::uint8_t* scales;   ///< 16 codes per piece
  std::int64_t groups;          ///< number of groups
  float* c;                     ///< the kernel adds to it
  std::ptrdiff_t stride;        ///< floats between rows of C
  std::int32_t quantum;         ///< the unit of the products is 2^quantum
  std::byte* records = nullptr; ///< directAndExpand, output: the panel as TileArguments::right
};

/// How the sum of a piece becomes a term of C: f32(sum * scale * scale), rounded once. The kinds
/// differ in their preconditions.
enum class Finish : std::uint8_t {
  Exponents, ///< both scales are powers of two; their product with the quantum is a normal f32
  Floats,    ///< the product of the scales and the quantum is exact in f32, and so is the term
  Rounded,   ///< the product of the scales and the quantum is exact in f32
  Doubles,   ///< none: computed in f64
};
inline constexpr int kFinishes = 4;

/// How integers are multiplied and summed.
enum class Dot : std::uint8_t {
  Bytes, ///< quads of u8 times quads of s8
  /// Bytes, for pieces that overflow the 16-bit sums of AVX2 only because of the right operand's
  /// offset. A correction for each sum, added modulo 2^16, undoes the overflow.
  BytesWrapped,
  BytesInPairs, ///< Bytes, for pieces that overflow 16-bit sums even without the offset
  Words,        ///< pairs of s16
};
inline constexpr int kDots = 4;

/// The scale formats of 4-bit storage.
enum class ScaleCodes : std::uint8_t { E8M0, E4M3 };

/// Piece, scale format and finish of a product with 4-bit storage on the right.
enum class NibbleKind : std::uint8_t {
  Exponents32, ///< pieces of 32, E8M0, Finish::Exponents
  Floats32,    ///< pieces of 32, E8M0, Finish::Floats: the left scales are not E8M0
  E8M0By16,    ///< pieces of 16, E8M0, Finish::Floats
  E4M3By16,    ///< pieces of 16, E4M3
};
inline constexpr int kNibbleKinds = 4;

/// Heights of tiles, the greatest first. A set uses the heights up to its kernels' `tallest`.
inline constexpr int kTileHeights[] = {8, 6, 4, 3, 2, 1};
inline constexpr int kHeights = 6;
constexpr int heightIndex(int height) {
  int index = 0;
  while (kTileHeights[index] != height)
    ++index;
  return index;
}
inline constexpr int kMaxPanels = 2;
/// The rows of two AMX tiles.
inline constexpr int kTileRows = 32;
/// Digits of an f32 activation in fixed point (Product.h).
inline constexpr int kDigits = 3;
/// Rows of digits for which a panel is decoded once.
inline constexpr int kDigitRows = 4;

/// Consecutive records of a panel. An element is (integer - offset) * quantum.
struct RecordsOfPanel {
  const std::byte* records;
  std::int64_t pieces;
  int steps; ///< steps in a piece
  std::int32_t offset;
  float quantum;
};

using Tile = void(const TileArguments&);
using Direct = void(const DirectArguments&);

/// One row of a block of C and the operands of Epilogue's steps. A null pointer omits its operand.
struct EpilogueRow {
  const float* sums;
  std::int64_t columns;
  float factor; ///< multiplies the sums: the product of the outer scales
  const float* addend;
  const float* bias;
  const float* residual;
  bool divides; ///< whether the stored value is divided by `divisor`
  float divisor;
  float* values; ///< output; may alias `sums`, `addend` or `residual`
};

struct EpilogueKernels {
  /// Whether all values are finite with a magnitude of at least `least`.
  bool (*areWithin)(const float* values, std::int64_t count, float least);
  /// Computes a row; indexed by Activation. Returns the bits of the largest |value|, above the bits
  /// of Inf if a value is NaN.
  std::uint32_t (*finishRow[5])(const EpilogueRow& row);
  void (*roundToBf16)(const float* values, std::int64_t columns, std::uint16_t* to);
  void (*roundToF16)(const float* values, std::int64_t columns, std::uint16_t* to);
};

struct ProductKernels {
  Isa isa;
  int tallest;          ///< the greatest tile height
  int panels;           ///< panels of a full tile
  bool sumsInRegisters; ///< a tile accesses C only at its begin and end

  /// Indexed by dot, finish, piece (0: 16 along K, 1: 32), index of the height, panels - 1.
  /// Finish::Doubles has one panel. Null if the set does not use the combination.
  Tile* tiles[kDots][kFinishes][2][kHeights][kMaxPanels];

  /// For 4-bit storage. First index: Dot::Bytes, Dot::BytesWrapped (pieces of 32, AVX2 only).
  Direct* direct[2][kNibbleKinds][kHeights];
  /// The same, and the unpacked panel is written for tiles of further rows. Null for heights that
  /// have no further tile.
  Direct* directAndExpand[2][kNibbleKinds][kHeights];
  /// Last index: 0 for one row of activations of kDigits digits, 1 for kDigitRows rows with
  /// consecutive records. Null if the set's registers do not hold the sums of more than one row.
  Direct* directDigits[kNibbleKinds][2];

  /// Converts codes below 64 to integers by `table`, and sums each piece: `pieces` pieces of
  /// `piece` codes. Reads and writes whole pieces.
  void (*integers)(const std::uint8_t* codes, std::int64_t pieces, int piece,
                   const std::int8_t* table, std::int8_t* integers, std::int32_t* sums);

  /// Interleaves `tallest` rows of bytes, `rowBytes` apart, to the records of a tile, for `groups`
  /// groups of 32 along K. Indexed by the number of pieces in a group - 1.
  void (*interleave[2])(const std::int8_t* rows, std::ptrdiff_t rowBytes, std::int64_t groups,
                        std::byte* records);

  /// Unpacks `groups` groups of a panel's 4-bit storage to records of bytes, with offset 12.
  /// Indexed by the number of pieces in a group - 1 and ScaleCodes.
  void (*expand[2][2])(const std::uint8_t* elements, const std::uint8_t* scales,
                       std::int64_t groups, std::byte* records);

  /// Writes the values of a panel of integers as f32, element * scale, 16 for each k. For 4-bit
  /// storage, indexed by the number of pieces in a group - 1 and ScaleCodes; for records, by
  /// whether they hold words.
  void (*nibblesToFloats[2][2])(const std::uint8_t* elements, const std::uint8_t* scales,
                                std::int64_t groups, float* out);
  void (*recordsToFloats[2])(const RecordsOfPanel& panel, float* out);

  EpilogueKernels epilogue;
};

/// The kernels of `isa`. Precondition: !whyNot(isa).
const ProductKernels& productKernels(Isa isa);

/// The constants with which float kernels decode a narrow float format. Codes are sign and
/// magnitude, with the sign in bit 7 for every width.
struct FloatFormat {
  std::uint32_t shift;      ///< left shift of a magnitude to f32's fields
  std::uint32_t bias;       ///< added to the fields of a normal number
  std::uint32_t subnormals; ///< the least magnitude that is normal
  std::uint32_t special;    ///< the least magnitude that is infinite or NaN
  float quantum;            ///< the unit of subnormals
  /// Decoding by f16: the code in the upper byte of a word, arithmetically shifted right by
  /// halfShift and masked by halfMask, is an f16; times `unit`, it is the value. Packed magnitudes
  /// are shifted left by codeShift.
  int codeShift;
  std::uint16_t halfShift;
  std::uint16_t halfMask;
  float unit; ///< packing multiplies scales by it; 1 for sets that do not decode by f16
  /// The low and high byte of each magnitude's bf16.
  alignas(64) std::uint8_t low[128];
  alignas(64) std::uint8_t high[128];
};

/// How floats are multiplied and summed.
enum class FloatDot : std::uint8_t {
  MultiplyAdds, ///< in f32
  Bf16Pairs,    ///< dot products of pairs of bf16
};

/// K is processed in groups of 32. The steps of a group are its elements in order for
/// multiply-adds; for bf16, the pairs (k, k + 1) for k = 0, 4, ..., 28, then for k = 2, 6, ..., 30.
inline constexpr int kGroup = 32;

/// One tile of C from expanded operands.
struct FloatTileArguments {
  const std::byte* left;      ///< kRows dwords per step; FloatKernels::ofRows: separate rows
  std::ptrdiff_t leftStride;  ///< FloatKernels::ofRows: bytes between rows
  int rows;                   ///< FloatKernels::ofRows: number of rows
  const std::byte* next;      ///< the start of the next tile's left operand, to be prefetched
  const std::byte* right;     ///< 16 dwords per step
  std::ptrdiff_t rightStride; ///< bytes between panels
  std::int64_t groups;
  std::int64_t groupsInSum; ///< groups of a block of K, which has its own sum and factors
  float* c;
  std::ptrdiff_t stride;      ///< floats between rows of C
  float* sums;                ///< room for the tile between blocks of K
  bool startFromC;            ///< the sum starts from C; else from +0
  bool addToC;                ///< the first sum is added to C after its factors
  const float* rowFactors;    ///< kRows; null: all factors are 1
  const float* columnFactors; ///< 16 per panel
  std::ptrdiff_t rowFactorStride, columnFactorStride; ///< floats between blocks
};

using FloatTile = void(const FloatTileArguments&);

/// Few rows by one panel of C, with the right operand decoded from packed codes.
struct FloatDirectArguments {
  const std::byte* left;     ///< expanded, separate rows, a dword per step
  std::ptrdiff_t leftStride; ///< bytes between rows
  int rows;                  ///< at most FloatKernels::directRows
  const FloatFormat* format;
  const std::uint8_t* codes;
  const float* scales; ///< null if `codes` holds values
  std::int64_t groups;
  float* sums; ///< output, 16 per row
};
inline constexpr int kMostDirectRows = 16;
using FloatDirect = void(const FloatDirectArguments&);

struct FloatKernels {
  Isa isa;
  FloatDot dot;
  bool decodesHalves; ///< codes are decoded to value / FloatFormat::unit
  int groupSteps;     ///< dwords per lane in a group
  int tallest;
  int panels;
  FloatTile* tiles[kHeights][kMaxPanels];
  /// For sets that keep expanded left rows separate: tiles of up to kTileRows rows.
  FloatTile* ofRows[kMaxPanels];
  int directRows; ///< the most rows of A for which `direct` is used
  FloatDirect* direct;
  FloatDirect* directValues; ///< `direct` for a right operand stored as values; null for bf16

  /// Decodes `groups` groups of `lanes` lanes (32 * lanes codes and `lanes` scales each) to
  /// element * scale in the layout of the tiles: 16 lanes are a panel, fewer are rows.
  void (*expand)(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                 int lanes, std::int64_t groups, std::byte* out);
};

/// The float kernels of `isa`. Preconditions: !whyNot(isa); Bf16Pairs only where usesBf16.
const FloatKernels& floatKernels(Isa isa, FloatDot dot);

} // namespace octavo::kernels
