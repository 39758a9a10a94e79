// The kernels of one instruction set, and their arguments. To add a kernel, add a member to
// KernelTable and its function in generic/ or in the folder of a set.
#pragma once

#include "octavo/Kernels/BlockPlan.h"
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/RoundedRun.h"
#include "octavo/Kernels/WideMemory.h"
#include "octavo/Numerics/Philox.h"

namespace octavo::kernels {

/// The largest block of a run, so that the blocks of a step stay in the first-level cache.
inline constexpr std::size_t kLargestRunBlock = 256;

/// `n` values in blocks of `block` consecutive values; the last block may be short. `block` is a
/// power of two, at least the number of f32 in a vector and at most kLargestRunBlock.
struct QuantizeRunArguments {
  const float* values;
  std::size_t n;
  std::size_t block;
  std::uint8_t* codes;
  void* scales;
  const std::uint32_t* random; ///< one number per value, or null
  Stores stores;
  const float* amaxes = nullptr; ///< from KernelTable::blockAmaxes, all finite; or null
};

/// The most columns of a strip.
inline constexpr std::size_t kStripColumns = 1024;

/// Values of the next strips, side by side, whose amaxes are found while the strip before them is
/// quantized: `rows` (a multiple of 4) times `columns`.
struct StripsAhead {
  const float* values;
  std::size_t rows, columns;
  std::uint32_t* amaxes;           ///< bits of each column's amax so far; initially zeros
  std::size_t row = 0, column = 0; ///< the next value to look at
};

/// A strip of `rows` times `columns` values, in blocks of `width` columns and all rows; the last
/// block may be narrower. Rows of values and of random numbers are `stride` elements apart. Scales
/// are contiguous.
struct QuantizeStripArguments {
  const float* values;
  std::size_t stride;
  std::size_t rows;
  std::size_t columns; ///< at most kStripColumns
  std::size_t width;
  std::uint32_t* amaxes; ///< bits of each column's amax, and zeros to a multiple of 64 columns
  bool areAmaxesKnown;   ///< false: the kernel finds them
  StripsAhead* ahead;    ///< or null
  bool finishesAhead;    ///< this call looks at all that is left of `ahead`
  std::uint8_t* codes;
  std::size_t codeStride;
  void* scales;
  const std::uint32_t* random;
  /// Instead of `random`: the value in row r and column c uses number first + r * stride + c.
  const numerics::RandomStream* stream;
  std::uint64_t first;
  Stores stores;
};

/// `n` values under one scale.
struct QuantizeSegmentArguments {
  const float* values;
  std::size_t n;
  std::uint32_t scaleCode;
  float factor; ///< divides or multiplies the values as BlockPlan::quotient says; Exact: 1 / scale
  bool exactly; ///< the values may contain infinities
  std::uint8_t* codes;
  const std::uint32_t* random;
};

/// `n` codes in blocks of `block` consecutive codes; the first block begins at the first code.
/// `block` is a power of two and at least the number of f32 in a vector.
struct DequantizeRunArguments {
  const std::uint8_t* codes;
  std::size_t n;
  std::size_t block;
  const float* scales; ///< one per block
  float outer;         ///< the outer scale; 1 if there is none
  float* values;
  Stores stores;
};

/// A strip of codes, as in QuantizeStripArguments, to be dequantized.
struct DequantizeStripArguments {
  const std::uint8_t* codes;
  std::size_t stride;
  std::size_t rows;
  std::size_t columns;
  const float* scales; ///< one per column
  float outer;
  float* values;
  Stores stores;
};

/// A matrix of `rows` times `columns` codes, rows `fromStride` apart, and the place of its
/// transpose, rows `toStride` apart.
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

/// Statistics of pairs in four lanes, pair i of a call in lane i % 4.
struct ComparisonLanes {
  static constexpr std::size_t kLanes = 4;
  double errorSquares[kLanes] = {}, valueSquares[kLanes] = {};
  double largestError[kLanes] = {}, largestValue[kLanes] = {};
  std::int64_t differing[kLanes] = {};
};

struct ComparisonFlags {
  bool hasLargerRatio; ///< |error| / |value| of a pair may exceed `largestRatio`
  bool hasNotFinite;   ///< a pair has a NaN or an infinity
};

struct KernelTable {
  Isa isa;
  int vectorBytes; ///< of the set's registers, from the compiler's macros for the kernels' file

  /// Converts n wide values to n codes, one per byte. Stochastic rounding uses one number of
  /// `random` per value.
  using Convert = void(const ConvertPlan& plan, const void* values, std::uint8_t* codes,
                       std::size_t n, const std::uint32_t* random, Stores stores);
  Convert* convertF32;
  Convert* convertBf16;
  Convert* convertF16;

  /// Decodes n codes, one per byte, to n wide values.
  using Decode = void(const DecodePlan& plan, const std::uint8_t* codes, void* values,
                      std::size_t n, Stores stores);
  Decode* decodeF32;
  Decode* decodeBf16;
  Decode* decodeF16;

  /// Packs n codes of the named width from one per byte, or unpacks them.
  using Repack = void(const std::uint8_t* from, std::uint8_t* to, std::size_t n);
  Repack* pack4;
  Repack* unpack4;
  Repack* pack6;
  Repack* unpack6;

  using Transpose = void(const TransposeArguments& matrix);
  Transpose* transpose;

  /// The bits of the largest |x| as f32; above the bits of Inf if a value is NaN.
  using Amax = std::uint32_t(const void* values, std::size_t n);
  Amax* amaxF32;
  Amax* amaxBf16;
  Amax* amaxF16;

  /// Writes the amaxes of the first blocks of a run; returns the bits of the run's amax. Each set
  /// decides for how many blocks it writes them; its quantizeRun reads as many.
  using BlockAmaxes = std::uint32_t(const float* values, std::size_t n, std::size_t block,
                                    float* amaxes);
  BlockAmaxes* blockAmaxes;

  /// Adds the pairs of finite values to `lanes`.
  using Compare = ComparisonFlags(const float* values, const float* others, std::size_t n,
                                  double largestRatio, ComparisonLanes& lanes);
  Compare* compare;
  using AreRounded = bool(const RoundedRun& run);
  AreRounded* areRounded;

  /// Numbers `first`, first + 1, ... of the stream: numerics::RandomStream::fill.
  using FillRandom = void(const numerics::RandomStream& stream, std::uint64_t first,
                          std::uint32_t* numbers, std::size_t n);
  FillRandom* fillRandom;

  /// Quantization, for plans whose scale is not Other; quantizeSegment takes any plan. The result
  /// is the number of non-finite values; -1 if the plan refuses such values and there is one. The
  /// outputs are then unspecified.
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
