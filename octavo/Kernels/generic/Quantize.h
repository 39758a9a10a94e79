// Quantization of contiguous blocks. kLanes blocks form a group, whose scales are computed in one
// vector. A first pass over the values finds the amaxes; a second pass, in the first-level cache,
// makes the codes. The first pass over the next batch is interleaved with the second pass, so that
// memory is read at a steady rate.
#pragma once

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/generic/Amax.h"
#include "octavo/Kernels/generic/Convert.h"
#include "octavo/Kernels/generic/Scale.h"
#include "octavo/Kernels/generic/Shuffle.h"
#include "octavo/Kernels/generic/Stream.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Within 16 bytes, the even (kOdd 0) or odd lanes of a, then those of b.
template <int kOdd> struct AlternateLanes {
  static constexpr int index(int i) {
    return (i % 4 < 2 ? 0 : kLanes) + i / 4 * 4 + i % 2 * 2 + kOdd;
  }
};
/// The even or odd 16 bytes of a, then those of b.
template <int kOdd> struct AlternateQuarters {
  static constexpr int index(int i) {
    return (i < kLanes / 2 ? 0 : kLanes) + (i / 4 * 2 + kOdd) % (kLanes / 4) * 4 + i % 4;
  }
};

template <template <int> typename Alternate> OCTAVO_INLINE U32 greaterOf(U32 a, U32 b) {
  return maximum(shuffled<Alternate<0>>(a, b), shuffled<Alternate<1>>(a, b));
}

/// The maximum of each vector's lanes; vector i gives lane i. Neighbours of two vectors are
/// compared within 16 bytes first, then whole 16 bytes, which gives the right order.
OCTAVO_INLINE U32 greatestOfEach(U32 (&v)[kLanes]) {
  int width = kLanes;
  for (int level = 0; level < 2; ++level) {
    width /= 2;
    for (int i = 0; i < width; ++i)
      v[i] = greaterOf<AlternateLanes>(v[2 * i], v[2 * i + 1]);
  }
  for (; width > 1; width /= 2)
    for (int i = 0; i < width / 2; ++i)
      v[i] = greaterOf<AlternateQuarters>(v[2 * i], v[2 * i + 1]);
  return v[0];
}

/// Amaxes of kLanes blocks, as bits.
OCTAVO_INLINE U32 blockAmaxes(const float* values, std::size_t block) {
  U32 partial[kLanes];
  for (int b = 0; b < kLanes; ++b) {
    const float* from = values + static_cast<std::size_t>(b) * block;
    partial[b] = load<U32>(from) & kAbs;
    for (std::size_t i = kLanes; i < block; i += kLanes)
      partial[b] = maximum(partial[b], load<U32>(from + i) & kAbs);
  }
  return greatestOfEach(partial);
}

/// KernelTable::blockAmaxes, for whole groups.
static std::uint32_t blockAmaxesOfRun(const float* values, std::size_t n, std::size_t block,
                                      float* amaxes) {
  const std::size_t group = block * kLanes;
  const std::size_t whole = n / group * group;
  U32 greatest = {};
  auto ofGroups = [&](std::size_t size) __attribute__((always_inline)) {
    for (std::size_t i = 0; i < whole; i += size * kLanes) {
      for (std::size_t j = 0; j < size * kLanes; j += kStep)
        prefetchStep<kNearPrefetchBytes>(values + i + j);
      const U32 found = blockAmaxes(values + i, size);
      store(amaxes + i / size, found);
      greatest = maximum(greatest, found);
    }
  };
  if (block == 16)
    ofGroups(16);
  else
    ofGroups(block);
  const std::uint32_t found = __builtin_reduce_max(greatest);
  const std::uint32_t rest = amaxBits<LoadF32>(values + whole, n - whole);
  return found > rest ? found : rest;
}

/// Judges kLanes blocks and counts their non-finite values.
struct NonFiniteBlocks {
  U32 amax, kept, code;
  std::int64_t count;
};
static __attribute__((noinline)) NonFiniteBlocks nonFiniteBlocks(const BlockPlan& plan,
                                                                 const float* values,
                                                                 std::size_t block) {
  std::uint32_t amax[kLanes], kept[kLanes], code[kLanes];
  std::int64_t count = 0;
  for (int b = 0; b < kLanes; ++b) {
    std::uint32_t greatest = 0;
    bool hasNan = false, hasInf = false;
    for (std::size_t i = 0; i < block; ++i) {
      std::uint32_t a;
      __builtin_memcpy(&a, values + static_cast<std::size_t>(b) * block + i, sizeof(a));
      a &= kAbs;
      count += a >= kInfinity;
      hasNan |= a > kInfinity;
      hasInf |= a == kInfinity;
      greatest = a < kInfinity && a > greatest ? a : greatest;
    }
    const Judgement found = judge(plan, greatest, hasNan, hasInf);
    amax[b] = found.amax;
    kept[b] = found.kept;
    code[b] = found.code;
  }
  return {load<U32>(amax), load<U32>(kept), load<U32>(code), count};
}

/// Quantizes several groups of kLanes blocks at a time: all amaxes, then all scales, then all
/// codes. That hides the latency from the amaxes of a group to its codes.
template <ScaleKind kScale, std::size_t kBlock> class BatchQuantizer {
public:
  template <typename Encoder>
  BatchQuantizer(const BlockPlan& plan, std::size_t block, const Encoder&)
      : plan(plan), finder(plan, kMultiple<Encoder>), block(kBlock ? kBlock : block),
        shift(static_cast<std::uint32_t>(__builtin_ctzll(block))) {
    if constexpr (kIsTabled<Encoder>)
      finder.fill(reciprocalOf);
  }

  OCTAVO_INLINE std::size_t groupSize() const { return (kBlock ? kBlock : block) * kLanes; }
  /// Values of a batch: kBatch, or one group if that is larger.
  OCTAVO_INLINE std::size_t batchSize() const {
    return groupSize() < kBatch ? kBatch / groupSize() * groupSize() : groupSize();
  }

  /// `n` values, whole groups, at most a batch; `next` values of the batch that follows, at most
  /// `n`; `known` as QuantizeRunArguments::amaxes says. Returns the number of non-finite values, or
  /// -1 where they are refused.
  template <typename Encoder, typename Out>
  OCTAVO_INLINE std::int64_t batch(const Encoder& encoder, const float* values, std::size_t n,
                                   std::size_t next, Out& out, std::uint8_t* scales,
                                   const std::uint32_t* random, const float* known) {
    if (!known && amaxesOf != values)
      findAllAmaxes(values, n);
    if (!known && __builtin_expect(greatest >= kInfinity, 0))
      return plan.nonFinite == NonFinite::Error ? -1
                                                : nonFiniteBatch(values, n, out, scales, random);
    // Only where it is worth it: the rare kernels would have to spill registers.
    constexpr bool kMayBeUsual =
        kBlock != 0 && !QuantizeStep<Quotient::Multiply, Encoder>::kIsExact;
    const float* const found = known ? known : amaxes;
    bool moderate = true;
    if constexpr (kIsTabled<Encoder>)
      findCodes(found, n, scales);
    else
      moderate = findScales<kMayBeUsual>(found, n, scales);
    if (__builtin_expect(!kIsTabled<Encoder> && anyNanScale, 0)) {
      for (std::size_t at = 0, lane = 0; at < n; at += groupSize(), lane += kLanes)
        store(kept + lane, (U32)(load<U32>(codes + lane) != splat(plan.nanScale)));
      encodeExactly(values, n, out, random);
      return 0;
    }
    withStep<kScale>(plan, encoder, moderate, [&](const auto& step) __attribute__((always_inline)) {
      if constexpr (kIsTabled<Encoder> && kBlock != 0 && Out::kStays) {
        encodeOffTies(step, values, n, out.place());
        out.advance(n);
      } else {
        // Codes that stay in the caches are of values that are there: nothing is to be gained.
        encode<false>(step, values, n, known || Out::kStays ? 0 : next, out, random);
      }
    });
    return 0;
  }

  /// Settles the steps of `run` that were put off: all, or where there may not be room for another
  /// batch's.
  OCTAVO_INLINE void settle(const QuantizeRunArguments& run, bool all) {
    if (all || waiting > kRoomToWait - kBatch / kStep)
      settleAll(run);
  }

private:
  __attribute__((noinline)) void settleAll(const QuantizeRunArguments& run) {
    const TiedStep step(plan);
    const auto* scaleCodes = static_cast<const std::uint8_t*>(run.scales);
    for (std::size_t w = 0; w < waiting; ++w) {
      const auto at = static_cast<std::size_t>(valuesWaiting[w] - run.values);
      U32 x[4], code[4];
      for (std::size_t j = 0; j < 4; ++j) {
        x[j] = load<U32>(run.values + at + j * kLanes);
        code[j] = splat(std::uint32_t{scaleCodes[(at + j * kLanes) / kBlock]});
      }
      store(run.codes + at, step(x, code));
    }
    waiting = 0;
  }

  OCTAVO_INLINE std::size_t blockOf(std::size_t at) const {
    return kBlock ? at / kBlock : at >> shift;
  }

  /// Of the group at a place of a batch. Returns them, as bits.
  OCTAVO_INLINE U32 findAmaxes(const float* values, std::size_t at) {
    const U32 amax = blockAmaxes(values + at, kBlock ? kBlock : block);
    store(amaxes + blockOf(at), floats(amax));
    return amax;
  }
  /// Of a batch. Not inlined: the registers are full of what the codes need.
  __attribute__((noinline)) void findAllAmaxes(const float* values, std::size_t n) {
    U32 largest = {};
    for (std::size_t at = 0; at < n; at += groupSize())
      largest = maximum(largest, findAmaxes(values, at));
    keepAmaxes(values, largest);
  }
  OCTAVO_INLINE void keepAmaxes(const float* values, U32 largest) {
    amaxesOf = values;
    greatest = __builtin_reduce_max(largest);
  }

  /// Returns whether the quotients may be taken by dividedFast. Blocks of finite values may have a
  /// scale of NaN too, where a corner's code says so.
  template <bool kMayBeUsual>
  OCTAVO_INLINE bool findScales(const float* known, std::size_t n, std::uint8_t* scales) {
    if constexpr (kMayBeUsual && ScaleFinder<kScale>::kMayBeUsual)
      if (finder.isUsual)
        return findScalesBy<true>(known, n, scales);
    return findScalesBy<false>(known, n, scales);
  }
  template <bool kUsual>
  OCTAVO_INLINE bool findScalesBy(const float* known, std::size_t n, std::uint8_t* scales) {
    // A copy: the compiler must assume that the stores could change the member.
    const ScaleFinder<kScale> finder = this->finder;
    U32 unfit = {};
    U32 nanScales = {};
    for (std::size_t at = 0, lane = 0; at < n; at += groupSize(), lane += kLanes) {
      const Scales found = finder.template find<kUsual>(load<U32>(known + lane));
      storeScales<kScale>(scales + lane * plan.scaleBytes, found.code);
      factors.put(lane, found.factor);
      store(codes + lane, found.code);
      nanScales |= (U32)(found.code == splat(plan.nanScale));
      unfit |= finder.template unfit<kUsual>(found);
    }
    anyNanScale = anySet(nanScales);
    return !anySet(unfit);
  }

  /// Of a plan that hasTabledE2M1.
  OCTAVO_INLINE void findCodes(const float* known, std::size_t n, std::uint8_t* scales) {
    const ScaleFinder<kScale> finder = this->finder;
    const std::size_t blocks = n / block;
    for (std::size_t lane = 0; lane < blocks; lane += kLanes)
      store(codes + lane, finder.codeOf(load<U32>(known + lane)));
    // Four vectors at once here, which the loop above has no registers for.
    std::size_t lane = 0;
    for (; lane + kStep <= blocks; lane += kStep) {
      U32 code[4];
      for (std::size_t j = 0; j < 4; ++j)
        code[j] = load<U32>(codes + lane + j * kLanes);
      const U8 narrowed = narrow(code);
      store(scales + lane, narrowed);
      store(narrowCodes + lane, narrowed);
    }
    for (; lane < blocks; lane += kLanes) {
      storeScales<kScale>(scales + lane, load<U32>(codes + lane));
      storeScales<kScale>(narrowCodes + lane, load<U32>(codes + lane));
    }
  }

  template <typename Out>
  __attribute__((noinline)) std::int64_t nonFiniteBatch(const float* values, std::size_t n,
                                                        Out& out, std::uint8_t* scales,
                                                        const std::uint32_t* random) {
    std::int64_t count = 0;
    for (std::size_t at = 0, lane = 0; at < n; at += groupSize(), lane += kLanes) {
      const NonFiniteBlocks blocks = nonFiniteBlocks(plan, values + at, block);
      count += blocks.count;
      const Scales found = forced<kScale>(scalesOf<kScale>(plan, blocks.amax), blocks.code);
      const U32 code = select(blocks.kept, found.code, splat(plan.nanScale));
      storeScales<kScale>(scales + lane * plan.scaleBytes, code);
      factors.put(lane, found.factor);
      store(codes + lane, found.code);
      store(kept + lane, (U32)(code != splat(plan.nanScale)));
    }
    encodeExactly(values, n, out, random);
    return count;
  }

  /// Codes of blocks of which some may have a scale of NaN: `kept` says which have not.
  template <typename Out>
  __attribute__((noinline)) void encodeExactly(const float* values, std::size_t n, Out& out,
                                               const std::uint32_t* random) {
    withStep<kScale>(plan, NoEncoder{}, false,
                     [&](const auto& step) { encode<true>(step, values, n, 0, out, random); });
  }

  /// Of a plan that hasTabledE2M1: steps that may have ties are put off. They are one in sixty or
  /// so, and a jump that nobody foresees costs as much as a step and a half.
  template <typename Step>
  OCTAVO_INLINE void encodeOffTies(const Step& step, const float* values, std::size_t n,
                                   std::uint8_t* to) {
    const float* const end = values + n;
    const std::uint8_t* scaleCode = narrowCodes;
    std::size_t count = waiting;
    for (; values < end; values += kStep, to += kStep, scaleCode += kStep / kBlock) {
      prefetchStep<kNearPrefetchBytes>(values);
      U32 x[4];
      Factor factor[4];
      for (std::size_t j = 0; j < 4; ++j) {
        x[j] = load<U32>(values + j * kLanes);
        factor[j].reciprocal = splat(reciprocalOf[scaleCode[j * kLanes / kBlock]]);
      }
      U8 codes;
      valuesWaiting[count] = values;
      count += !step.isOffTies(x, factor, codes);
      store(to, codes);
    }
    waiting = count;
  }

  /// Some groups of codes, then the amaxes of as many of the `next` values.
  template <bool kMayBePoisoned, typename Step, typename Out>
  OCTAVO_INLINE void encode(const Step& step, const float* values, std::size_t n, std::size_t next,
                            Out& out, const std::uint32_t* random) {
    U32 largest = {};
    for (std::size_t at = 0; at < n; at += kTurn * groupSize()) {
      const std::size_t end = at + kTurn * groupSize();
      encodeGroups<kMayBePoisoned>(step, values, at, end < n ? end : n, out, random);
      for (std::size_t i = 0; i < kTurn; ++i)
        if (at + i * groupSize() < next)
          largest = maximum(largest, findAmaxes(values + n, at + i * groupSize()));
    }
    if (next != 0)
      keepAmaxes(values + n, largest);
    out.advance(n);
  }

  template <bool kMayBePoisoned, typename Step, typename Out>
  OCTAVO_INLINE void encodeGroups(const Step& step, const float* values, std::size_t begin,
                                  std::size_t end, Out& out, const std::uint32_t* random) const {
    constexpr bool kTabled = kIsTabled<decltype(Step::encoder)>;
    std::uint8_t* const to = out.place();
    for (std::size_t i = begin; i < end; i += kStep) {
      prefetchStepLevel2(values + i);
      U32 x[4], code[4], mask[4];
      Factor factor[4];
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t at = i + j * kLanes;
        const std::size_t b = blockOf(at);
        x[j] = load<U32>(values + at);
        if constexpr (kMayBePoisoned)
          mask[j] = splat(kept[b]);
        if constexpr (kTabled) {
          factor[j].reciprocal = splat(reciprocalOf[narrowCodes[b]]);
          code[j] = splat(std::uint32_t{narrowCodes[b]});
        } else {
          factor[j] = factors.all(b);
          code[j] = splat(codes[b]);
        }
      }
      U8 result = step(x, factor, code, random ? random + i : nullptr);
      if constexpr (kMayBePoisoned) // elements of a NaN block have code 0
        result &= narrow(mask);
      Out::put(to + i, result);
    }
  }

  // This batch and the next three are what is asked for ahead.
  static constexpr std::size_t kBatch = kFarPrefetchBytes / 4 / sizeof(float);
  // Groups of codes, then of amaxes: of 2 KiB of values, most often. One for AVX2 costs a tenth.
  static constexpr std::size_t kTurn = kLanes < 16 ? 2 : 1;
  static constexpr std::size_t kBlocks = kBatch / kLanes; // a block has a vector at least
  static constexpr std::size_t kRoomToWait = 256;

  const BlockPlan& plan;
  ScaleFinder<kScale> finder;
  std::size_t block;
  std::uint32_t shift;
  bool anyNanScale = false;
  const float* amaxesOf = nullptr; ///< the first of the values whose amaxes are at hand
  std::uint32_t greatest = 0;      ///< of them, as bits
  /// Tabled: steps whose codes are to be looked at closer, their values.
  std::size_t waiting = 0;
  const float* valuesWaiting[kRoomToWait];
  alignas(64) float amaxes[kBlocks];
  alignas(64) float reciprocalOf[kNarrowScales]; ///< by scale code, for Tabled
  alignas(64) std::uint32_t codes[kBlocks];
  alignas(64) std::uint8_t narrowCodes[kBlocks]; ///< the same, for Tabled
  alignas(64) std::uint32_t kept[kBlocks];
  Factors<kScale, kBlocks> factors;
};

/// Quantizes the last blocks, fewer than kLanes and the last perhaps short, padded with zeros.
template <ScaleKind kScale, typename Encoder>
static std::int64_t quantizeLastGroup(const BlockPlan& plan, const Encoder& encoder,
                                      const float* values, std::size_t n, std::size_t block,
                                      std::uint8_t* codes, void* scales,
                                      const std::uint32_t* random) {
  constexpr std::size_t kMost = kLanes * kLargestRunBlock;
  float in[kMost];
  std::uint32_t bitsIn[kMost];
  std::uint8_t out[kMost];
  std::uint8_t scalesOut[kLanes * 4];
  const std::size_t size = block * kLanes;
  __builtin_memset(in, 0, size * sizeof(float));
  __builtin_memcpy(in, values, n * sizeof(float));
  if (random) {
    __builtin_memset(bitsIn, 0, size * sizeof(*random));
    __builtin_memcpy(bitsIn, random, n * sizeof(*random));
  }
  Direct direct(out);
  BatchQuantizer<kScale, 0> quantizer(plan, block, encoder);
  const std::int64_t count =
      quantizer.batch(encoder, in, size, 0, direct, scalesOut, random ? bitsIn : nullptr, nullptr);
  __builtin_memcpy(codes, out, n);
  __builtin_memcpy(scales, scalesOut, (n + block - 1) / block * plan.scaleBytes);
  return count;
}

template <ScaleKind kScale, typename Encoder, std::size_t kBlock, typename Out>
static std::int64_t quantizeBatches(const BlockPlan& plan, const Encoder& encoder,
                                    const QuantizeRunArguments& run) {
  BatchQuantizer<kScale, kBlock> quantizer(plan, run.block, encoder);
  auto* scales = static_cast<std::uint8_t*>(run.scales);
  Out out(run.codes);
  std::int64_t nonFinite = 0;
  const std::size_t whole = run.n / quantizer.groupSize() * quantizer.groupSize();
  for (std::size_t i = 0; i < whole;) {
    const std::size_t n = whole - i < quantizer.batchSize() ? whole - i : quantizer.batchSize();
    const std::size_t rest = whole - i - n;
    const std::int64_t count = quantizer.batch(encoder, run.values + i, n, rest < n ? rest : n, out,
                                               scales + i / run.block * plan.scaleBytes,
                                               run.random ? run.random + i : nullptr,
                                               run.amaxes ? run.amaxes + i / run.block : nullptr);
    if (__builtin_expect(count != 0, 0)) {
      if (count < 0)
        return -1;
      nonFinite += count;
    }
    i += n;
    if constexpr (kIsTabled<Encoder> && Out::kStays)
      quantizer.settle(run, i == whole);
  }
  out.finish();
  if (whole == run.n)
    return nonFinite;
  const std::int64_t count = quantizeLastGroup<kScale>(
      plan, encoder, run.values + whole, run.n - whole, run.block, run.codes + whole,
      scales + whole / run.block * plan.scaleBytes, run.random ? run.random + whole : nullptr);
  return count < 0 ? -1 : nonFinite + count;
}

/// Not inlined: the set-up of all encoders in one function would be too large to compile well.
template <ScaleKind kScale, typename Encoder, std::size_t kBlock>
static __attribute__((noinline)) std::int64_t
quantizeRunBy(const BlockPlan& plan, const Encoder& encoder, const QuantizeRunArguments& run) {
  if (run.stores == Stores::Streaming && isAligned(run.codes))
    return quantizeBatches<kScale, Encoder, kBlock, AlignedStream>(plan, encoder, run);
  if (run.stores == Stores::Streaming)
    return quantizeBatches<kScale, Encoder, kBlock, Stream>(plan, encoder, run);
  return quantizeBatches<kScale, Encoder, kBlock, Direct>(plan, encoder, run);
}

template <ScaleKind kScale>
static std::int64_t quantizeRunOf(const BlockPlan& plan, const QuantizeRunArguments& run) {
  const bool nearest = plan.element.rounding == Rounding::TiesToEven && !plan.isExact;
  if (kScale != ScaleKind::Float32 && hasPositiveZeros(plan)) {
    const PositiveZero<FastFloat> encoder = positiveZeroEncoder(plan);
    constexpr std::size_t kUsual = kScale == ScaleKind::Narrow ? 16 : 32;
    return run.block == kUsual
               ? quantizeRunBy<kScale, PositiveZero<FastFloat>, kUsual>(plan, encoder, run)
               : quantizeRunBy<kScale, PositiveZero<FastFloat>, 0>(plan, encoder, run);
  }
  if (kScale == ScaleKind::Float32 && hasRoundedQuotients(plan))
    return quantizeRunBy<kScale, RoundedQuotient<FastFloat>, 0>(plan, roundedQuotientEncoder(plan),
                                                                run);
  if constexpr (kScale == ScaleKind::Narrow && E2M1ByTable::kExists) {
    using Encoder = Tabled<E2M1ByTable>;
    if (run.block == 16 && hasTabledE2M1(plan))
      return quantizeRunBy<kScale, Encoder, 16>(plan, Encoder{}, run);
  }
  if (nearest && plan.element.kind == ConvertPlan::Kind::Float) {
    const FastFloat encoder(plan.element);
    if (run.block == 16)
      return quantizeRunBy<kScale, FastFloat, 16>(plan, encoder, run);
    if (run.block == 32)
      return quantizeRunBy<kScale, FastFloat, 32>(plan, encoder, run);
    return quantizeRunBy<kScale, FastFloat, 0>(plan, encoder, run);
  }
  if (nearest && plan.element.kind == ConvertPlan::Kind::Integer)
    return quantizeRunBy<kScale, FastInteger, 0>(plan, FastInteger(plan.element), run);
  return quantizeRunBy<kScale, NoEncoder, 0>(plan, NoEncoder{}, run);
}

static std::int64_t quantizeRun(const BlockPlan& plan, const QuantizeRunArguments& run) {
  switch (plan.scale) {
  case ScaleKind::PowerOfTwo:
    return quantizeRunOf<ScaleKind::PowerOfTwo>(plan, run);
  case ScaleKind::Float32:
    return quantizeRunOf<ScaleKind::Float32>(plan, run);
  case ScaleKind::Narrow:
    return quantizeRunOf<ScaleKind::Narrow>(plan, run);
  case ScaleKind::Other:
    break;
  }
  __builtin_unreachable(); // precondition
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
