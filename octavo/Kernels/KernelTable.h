// The kernels of one instruction set. Adding a kernel is adding a row here and its function in
// generic/ or in a set's folder.
#pragma once

#include "octavo/Kernels/BlockPlan.h"
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/RoundedRun.h"
#include "octavo/Kernels/WideMemory.h"
#include "octavo/Numerics/Philox.h"

namespace octavo::kernels {

/// The largest block of a run: its group of blocks stays in the first-level cache.
inline constexpr std::size_t kLargestRunBlock = 256;

/// `n` values in blocks of `block` consecutive ones, the last perhaps short. `block` is a power of
/// two, at least a vector's number of f32 and at most kLargestRunBlock.
struct QuantizeRunArguments {
  const float* values;
  std::size_t n;
  std::size_t block;
  std::uint8_t* codes;
  void* scales;
  const std::uint32_t* random; ///< one a value, or null
  Stores stores;
  const float* amaxes = nullptr; ///< from KernelTable::blockAmaxes, all finite; or null
};

inline constexpr std::size_t kStripColumns = 1024;

/// Values that are looked at while those before them are quantized: `rows` (a multiple of 4) times
/// `columns`, of strips beside one another.
struct StripsAhead {
  const float* values;
  std::size_t rows, columns;
  std::uint32_t* amaxes; ///< bits of those of the columns: of what has been looked at, zeros first
  std::size_t row = 0, column = 0; ///< what is to be looked at now
};

/// Blocks of `width` columns, the last perhaps narrower: `rows` times `columns` values, a row
/// `stride` elements after the one before, of random numbers too; scales are contiguous.
struct QuantizeStripArguments {
  const float* values;
  std::size_t stride;
  std::size_t rows;
  std::size_t columns; ///< at most kStripColumns
  std::size_t width;
  std::uint32_t* amaxes; ///< bits of those of the columns, and zeros to a multiple of 64 columns
  bool areAmaxesKnown;   ///< or they are to be found
  StripsAhead* ahead;    ///< or null
  bool finishesAhead;    ///< no other strip will look at what is left of them
  std::uint8_t* codes;
  std::size_t codeStride;
  void* scales;
  const std::uint32_t* random;
  const numerics::RandomStream* stream; ///< in place of `random`: value i of the strip's first row
  std::uint64_t first;                  ///< takes number first + i, others `stride` a row further
  Stores stores;
};

/// `n` values under one scale.
struct QuantizeSegmentArguments {
  const float* values;
  std::size_t n;
  std::uint32_t scaleCode;
  float factor; ///< meets the values as BlockPlan::quotient says; Exact: 1 / scale
  bool exactly; ///< there may be infinities
  std::uint8_t* codes;
  const std::uint32_t* random;
};

/// `n` codes in blocks of `block` consecutive ones, a power of two and at least a vector's number
/// of f32; the first block begins at the first code.
struct DequantizeRunArguments {
  const std::uint8_t* codes;
  std::size_t n;
  std::size_t block;
  const float* scales; ///< one a block
  float outer;         ///< 1 where there is none
  float* values;
  Stores stores;
};

/// As QuantizeStripArguments, the other way.
struct DequantizeStripArguments {
  const std::uint8_t* codes;
  std::size_t stride;
  std::size_t rows;
  std::size_t columns;
  const float* scales; ///< one a column
  float outer;
  float* values;
  Stores stores;
};

/// Codes of `rows` times `columns`, a row `fromStride` after the one before, to their transpose.
struct TransposeArguments {
  const std::uint8_t* from;
  std::size_t fromStride;
  std::size_t rows; ///< at most kTransposedRows
  std::size_t columns;
  std::uint8_t* to;
  std::size_t toStride;
  Stores stores;
};
inline constexpr std::size_t kTransposedRows = 256;

/// What is kept of every fourth pair of values: sums of squares, the largest, how many differ.
struct ComparisonLanes {
  static constexpr std::size_t kLanes = 4;
  double errorSquares[kLanes] = {}, valueSquares[kLanes] = {};
  double largestError[kLanes] = {}, largestValue[kLanes] = {};
  std::int64_t differing[kLanes] = {};
};

struct ComparisonFlags {
  bool hasLargerRatio; ///< the |error| of a pair may be more than so much of its first value's size
  bool hasNotFinite;   ///< there is a pair with NaN or an infinity
};

struct KernelTable {
  Isa isa;
  int vectorBytes; ///< of the set's registers, from the compiler's own macros for that file

  /// n wide values to n codes, one a byte. Stochastic rounding takes one of `random` a value.
  using Convert = void(const ConvertPlan& plan, const void* values, std::uint8_t* codes,
                       std::size_t n, const std::uint32_t* random, Stores stores);
  Convert* convertF32;
  Convert* convertBf16;
  Convert* convertF16;

  /// n codes, one a byte, to n wide values.
  using Decode = void(const DecodePlan& plan, const std::uint8_t* codes, void* values,
                      std::size_t n, Stores stores);
  Decode* decodeF32;
  Decode* decodeBf16;
  Decode* decodeF16;

  /// n codes of the named width, from one a byte to packed or back.
  using Repack = void(const std::uint8_t* from, std::uint8_t* to, std::size_t n);
  Repack* pack4;
  Repack* unpack4;
  Repack* pack6;
  Repack* unpack6;

  using Transpose = void(const TransposeArguments& matrix);
  Transpose* transpose;

  /// The bits of the largest |x| as f32, which are above those of Inf if there is a NaN.
  using Amax = std::uint32_t(const void* values, std::size_t n);
  Amax* amaxF32;
  Amax* amaxBf16;
  Amax* amaxF16;

  /// Amaxes of the first blocks of a run, and the bits of the largest of all of it. How many blocks
  /// that are is the set's affair: quantizeRun looks up as many.
  using BlockAmaxes = std::uint32_t(const float* values, std::size_t n, std::size_t block,
                                    float* amaxes);
  BlockAmaxes* blockAmaxes;

  /// Adds the pairs of finite values.
  using Compare = ComparisonFlags(const float* values, const float* others, std::size_t n,
                                  double largestRatio, ComparisonLanes& lanes);
  Compare* compare;
  using AreRounded = bool(const RoundedRun& run);
  AreRounded* areRounded;

  /// Numbers `first`, first + 1, ... of the stream: numerics::RandomStream::fill.
  using FillRandom = void(const numerics::RandomStream& stream, std::uint64_t first,
                          std::uint32_t* numbers, std::size_t n);
  FillRandom* fillRandom;

  /// Quantization, for plans whose scale is not Other (a segment's may be). They return the number
  /// of non-finite values, or -1 where the plan refuses those and there is one: the outputs are
  /// then unspecified.
  using QuantizeRun = std::int64_t(const BlockPlan& plan, const QuantizeRunArguments& run);
  QuantizeRun* quantizeRun;
  using QuantizeStrip = std::int64_t(const BlockPlan& plan, const QuantizeStripArguments& strip);
  QuantizeStrip* quantizeStrip;
  using QuantizeSegment = void(const BlockPlan& plan, const QuantizeSegmentArguments& segment);
  QuantizeSegment* quantizeSegment;

  using DequantizeRun = void(const DecodePlan& plan, const DequantizeRunArguments& run);
  DequantizeRun* dequantizeRun;
  using DequantizeStrip = void(const DecodePlan& plan, const DequantizeStripArguments& strip);
  DequantizeStrip* dequantizeStrip;
};

/// The table of `isa`. Precondition: !whyNot(isa).
const KernelTable& kernelTable(Isa isa);

} // namespace octavo::kernels
