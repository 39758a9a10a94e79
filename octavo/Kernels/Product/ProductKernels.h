// What one instruction set contributes to a product: the innermost loops, as functions on packed
// memory. The loops around them (cache blocks, threads) are in Product.cpp, compiled once for the
// baseline. PackedOperand.h says what the memory holds.
#pragma once

#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/Product/Epilogue.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Columns of a panel: rows of the right operand that lie interleaved in memory.
inline constexpr int kPanelColumns = 16;
/// Products along K of one column that one step sums: a dword of each operand.
inline constexpr int kStepBytes = kPanelColumns * 4;

/// One tile of C: `height` rows by `panels` panels, over consecutive records (pieces of K).
struct TileArguments {
  const std::byte* left;      ///< the tile's first record
  const std::byte* next;      ///< what the next tile begins with; is asked for early
  const std::byte* right;     ///< the first panel's first record
  std::ptrdiff_t rightStride; ///< bytes between panels
  std::int64_t records;
  std::int64_t recordsInSum; ///< Finish::Doubles: records that make one exact sum
  float* c;                  ///< added to, unless
  bool fresh;                ///< nothing is there yet
  std::ptrdiff_t stride;     ///< floats between rows of C
  std::int32_t quantum;      ///< the products' unit is 2^quantum
};

/// One panel of C straight from 4-bit storage, one tile of rows.
struct DirectArguments {
  const std::byte* left;
  const std::uint8_t* elements; ///< 256 bytes a group of 32 along K
  const std::uint8_t* scales;   ///< 16 codes a piece
  std::int64_t groups;
  float* c; ///< added to
  std::ptrdiff_t stride;
  std::int32_t quantum;
  std::byte* records = nullptr; ///< directAndExpand: the panel as a tile's `right`, written
};

/// How the sum of a piece becomes a term of C. All give f32(sum * scale * scale), rounded once.
enum class Finish : std::uint8_t {
  Exponents, ///< both scales powers of two, their product and its quantum a normal f32
  Floats,    ///< the product of the scales and the quantum is exact in f32, and so is the term
  Rounded,   ///< the product of the scales and the quantum is exact in f32
  Doubles,   ///< anything: through f64
};
inline constexpr int kFinishes = 4;

/// How integers are multiplied and summed.
enum class Dot : std::uint8_t {
  Bytes, ///< quads of u8 times quads of s8
  /// The same where a whole piece would overflow the 16-bit sums of AVX2, but would not without the
  /// right operand's offset: a correction for each of them, added modulo 2^16, brings it back.
  BytesWrapped,
  BytesInPairs, ///< the same where it would overflow without the offset too
  Words,        ///< pairs of s16
};
inline constexpr int kDots = 4;

/// Scale formats that 4-bit storage keeps as codes.
enum class ScaleCodes : std::uint8_t { E8M0, E4M3 };

/// Pieces, scale codes and finish of a product straight from 4-bit storage.
enum class NibbleKind : std::uint8_t {
  Exponents32, ///< pieces of 32, E8M0
  Floats32,    ///< pieces of 32, E8M0, against scales of another kind
  E8M0By16,    ///< pieces of 16, Finish::Floats
  E4M3By16,
};
inline constexpr int kNibbleKinds = 4;

/// Heights of tiles, the greatest first; a set uses the ones up to its own greatest.
inline constexpr int kTileHeights[] = {8, 6, 4, 3, 2, 1};
inline constexpr int kHeights = 6;
constexpr int heightIndex(int height) {
  int index = 0;
  while (kTileHeights[index] != height)
    ++index;
  return index;
}
inline constexpr int kMaxPanels = 2;
/// The most rows that two tiles of AMX have.
inline constexpr int kTileRows = 32;
/// Digits of an activation in fixed point; docs at Activation.
inline constexpr int kDigits = 3;
/// Rows of digits for which a panel is decoded once.
inline constexpr int kDigitRows = 4;

/// Some records of a panel: their integers less `offset`, times `quantum`, are elements.
struct RecordsOfPanel {
  const std::byte* records;
  std::int64_t pieces;
  int steps; ///< of a piece
  std::int32_t offset;
  float quantum;
};

using Tile = void(const TileArguments&);
using Direct = void(const DirectArguments&);

/// One row of a block of C, in the steps of Epilogue. A null pointer: nothing is added.
struct EpilogueRow {
  const float* sums;
  std::int64_t columns;
  float factor; ///< of the sums: the outer scales
  const float* addend;
  const float* bias;
  const float* residual;
  bool divides; ///< the stored value by `divisor`
  float divisor;
  float* values; ///< may be `sums`, `addend` or `residual`
};

struct EpilogueKernels {
  /// Whether all magnitudes are finite and at least `least`.
  bool (*areWithin)(const float* values, std::int64_t count, float least);
  /// By activation. The bits of the largest |value|, above those of Inf if there is a NaN.
  std::uint32_t (*finishRow[5])(const EpilogueRow& row);
  void (*roundToBf16)(const float* values, std::int64_t columns, std::uint16_t* to);
  void (*roundToF16)(const float* values, std::int64_t columns, std::uint16_t* to);
};

struct ProductKernels {
  Isa isa;
  int tallest;          ///< the greatest tile height
  int panels;           ///< panels of a full tile
  bool sumsInRegisters; ///< a tile touches C at its begin and end only

  /// By dot, finish, steps of a piece (0: 16 along K, 1: 32), index of the height, panels - 1.
  /// Doubles has one panel. Null where the set has no use for the combination.
  Tile* tiles[kDots][kFinishes][2][kHeights][kMaxPanels];

  /// From 4-bit storage. First index: Dot::Bytes, Dot::BytesWrapped (pieces of 32, of AVX2).
  Direct* direct[2][kNibbleKinds][kHeights];
  /// The same, the panel unpacked for tiles of further rows; null for tiles that are the only one.
  Direct* directAndExpand[2][kNibbleKinds][kHeights];
  /// One row of activations of kDigits digits, and kDigitRows, whose records follow one another:
  /// null where a set's registers do not hold the sums of more than one.
  Direct* directDigits[kNibbleKinds][2];

  /// Codes below 64 of `pieces` pieces of `piece` codes to integers by `table`, and their sums.
  /// Reads and writes whole pieces.
  void (*integers)(const std::uint8_t* codes, std::int64_t pieces, int piece,
                   const std::int8_t* table, std::int8_t* integers, std::int32_t* sums);

  /// The steps of a tile of `tallest` rows of bytes, `rowBytes` apart, to its records, by pieces of
  /// 32 - 1: of `groups` groups of 32.
  void (*interleave[2])(const std::int8_t* rows, std::ptrdiff_t rowBytes, std::int64_t groups,
                        std::byte* records);

  /// Unpacks `groups` groups of a panel's 4-bit storage to records of bytes, 12 added to each.
  void (*expand[2][2])(const std::uint8_t* elements, const std::uint8_t* scales,
                       std::int64_t groups, std::byte* records);

  /// The values of a panel of integers as f32, element * scale: `out` has 16 of each k. Of 4-bit
  /// storage, by pieces of a group - 1 and ScaleCodes; of records, by whether they are words.
  void (*nibblesToFloats[2][2])(const std::uint8_t* elements, const std::uint8_t* scales,
                                std::int64_t groups, float* out);
  void (*recordsToFloats[2])(const RecordsOfPanel& panel, float* out);

  EpilogueKernels epilogue;
};

/// The kernels of `isa`. Precondition: !whyNot(isa).
const ProductKernels& productKernels(Isa isa);

/// A narrow float format as the float kernels decode it. Codes are sign and magnitude, the sign
/// moved to bit 7 whatever the width.
struct FloatFormat {
  std::uint32_t shift;      ///< of a magnitude to f32's fields
  std::uint32_t bias;       ///< added to a normal number's fields
  std::uint32_t subnormals; ///< the least magnitude that is normal
  std::uint32_t special;    ///< the least magnitude that is infinite or NaN
  float quantum;            ///< of subnormals
  /// As a half: the code in the upper byte of a word, shifted right with its sign and masked, is an
  /// f16 that times `unit` is the value. Packed magnitudes are shifted left by codeShift.
  int codeShift;
  std::uint16_t halfShift;
  std::uint16_t halfMask;
  float unit; ///< packing multiplies scales by it; 1 for sets that do not decode halves
  /// The bytes of each magnitude's bf16.
  alignas(64) std::uint8_t low[128];
  alignas(64) std::uint8_t high[128];
};

/// How floats are multiplied and summed.
enum class FloatDot : std::uint8_t {
  MultiplyAdds, ///< in f32
  Bf16Pairs,    ///< dot products of pairs of bf16
};

/// K is taken in groups of 32. A group's steps: multiply-adds, its elements in order; bf16, pairs
/// (k, k + 1) for k = 0, 4, ..., 28, then for k = 2, 6, ..., 30.
inline constexpr int kGroup = 32;

/// One tile of C from expanded operands.
struct FloatTileArguments {
  const std::byte* left;      ///< kRows dwords a step; of FloatKernels::ofRows each row by itself,
  std::ptrdiff_t leftStride;  ///< so many bytes apart,
  int rows;                   ///< so many
  const std::byte* next;      ///< what the next tile begins with; is asked for early
  const std::byte* right;     ///< 16 dwords a step
  std::ptrdiff_t rightStride; ///< bytes between panels
  std::int64_t groups;
  std::int64_t groupsInSum; ///< each such block of K has a sum and factors of its own
  float* c;
  std::ptrdiff_t stride; ///< floats between rows of C
  float* sums;           ///< room for the tile between blocks of K
  /// What the sum starts from, and what the first one is added to after its factors: C or nothing.
  bool startFromC;
  bool addToC;
  const float* rowFactors;                            ///< kRows; null: all factors are 1
  const float* columnFactors;                         ///< 16 a panel
  std::ptrdiff_t rowFactorStride, columnFactorStride; ///< floats between blocks
};

using FloatTile = void(const FloatTileArguments&);

/// Few rows of C and one panel from packed codes.
struct FloatDirectArguments {
  const std::byte* left;     ///< expanded, each row by itself, a dword a step
  std::ptrdiff_t leftStride; ///< bytes between rows
  int rows;                  ///< at most FloatKernels::directRows
  const FloatFormat* format;
  const std::uint8_t* codes;
  const float* scales; ///< null where codes are values
  std::int64_t groups;
  float* sums; ///< 16 a row, written
};
inline constexpr int kMostDirectRows = 16;
using FloatDirect = void(const FloatDirectArguments&);

struct FloatKernels {
  Isa isa;
  FloatDot dot;
  bool decodesHalves; ///< codes are decoded to value / FloatFormat::unit
  int groupSteps;     ///< dwords of a lane in a group
  int tallest;
  int panels;
  FloatTile* tiles[kHeights][kMaxPanels];
  /// Of sets whose expanded rows of the left side lie by themselves: up to kTileRows of them.
  FloatTile* ofRows[kMaxPanels];
  int directRows; ///< rows of A up to which `direct` is meant
  FloatDirect* direct;
  FloatDirect* directValues; ///< the same where the right operand is values; null for bf16

  /// Decodes `groups` groups of `lanes` lanes (32 * lanes codes, `lanes` scales each) to element *
  /// scale, as the tiles want them: 16 lanes are a panel, fewer are rows.
  void (*expand)(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                 int lanes, std::int64_t groups, std::byte* out);
};

/// The float kernels of `isa`. Preconditions: !whyNot(isa); Bf16Pairs only where usesBf16.
const FloatKernels& floatKernels(Isa isa, FloatDot dot);

} // namespace octavo::kernels
