// Quantization of strips, whose blocks are columns, and of values with one scale: each lane has the
// scale of its value.
#pragma once

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/generic/Convert.h"
#include "octavo/Kernels/generic/Random.h"
#include "octavo/Kernels/generic/Scale.h"
#include "octavo/Kernels/generic/Stream.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// A strip is processed row by row, so that memory is read in long pieces. The state of its columns
/// is kept between rows, and its values stay in a cache for the second pass. The first pass over
/// the next strips is interleaved with this strip's second pass, so that memory is read at a steady
/// rate. It reads four whole rows at a time, because hardware prefetching needs rows longer than
/// 4 KiB. Columns beyond the strip are zeros. Arrays hold the state of the blocks, then of every
/// column.
template <ScaleKind kScale, typename Encoder> class StripQuantizer {
public:
  StripQuantizer(const BlockPlan& plan, const Encoder& encoder, const QuantizeStripArguments& strip)
      : plan(plan), finder(plan, kMultiple<Encoder>), encoder(encoder), strip(strip),
        amax(strip.amaxes) {}

  std::int64_t quantize() {
    if (!strip.areAmaxesKnown)
      findAmaxes();
    if (strip.width > 1)
      joinAmaxes();
    U32 greatest = {};
    for (std::size_t b = 0; b < blocks(); b += kLanes)
      greatest = maximum(greatest, load<U32>(amax + b));
    const bool isFinite = __builtin_reduce_max(greatest) < kInfinity;
    std::int64_t nonFinite = 0;
    if (!isFinite) {
      if (plan.nonFinite == NonFinite::Error)
        return -1;
      nonFinite = judgeNonFinite();
    }
    bool areAllModerate;
    if constexpr (ScaleFinder<kScale>::kMayBeUsual)
      areAllModerate = finder.isUsual ? findScales<true>(isFinite) : findScales<false>(isFinite);
    else
      areAllModerate = findScales<false>(isFinite);
    if (mayBePoisoned)
      withStep<kScale>(plan, NoEncoder{}, false, [&](const auto& step) { encodeRows(step); });
    else
      withStep<kScale>(plan, encoder, areAllModerate, [&](const auto& step) { encodeRows(step); });
    if (strip.ahead && strip.finishesAhead)
      finishAhead(*strip.ahead);
    return nonFinite;
  }

private:
  OCTAVO_INLINE std::size_t wholeSteps() const { return strip.columns / kStep * kStep; }
  OCTAVO_INLINE std::size_t rest() const { return strip.columns % kStep; }
  OCTAVO_INLINE std::size_t blocks() const {
    return strip.width == 1 ? strip.columns : (strip.columns + strip.width - 1) / strip.width;
  }
  OCTAVO_INLINE std::size_t endOf(std::size_t block) const {
    const std::size_t end = (block + 1) * strip.width;
    return end < strip.columns ? end : strip.columns;
  }

  void findAmaxes() {
    __builtin_memset(amax, 0, (strip.columns + kStep - 1) / kStep * kStep * sizeof(*amax));
    std::size_t r = 0;
    for (; r + 4 <= strip.rows; r += 4)
      raiseAmaxes<4>(amax, strip.values + r * strip.stride, 0, strip.columns);
    for (; r < strip.rows; ++r)
      raiseAmaxes<1>(amax, strip.values + r * strip.stride, 0, strip.columns);
  }

  /// Reduces amaxes of columns to those of blocks, with zeros to the end of the last vector.
  void joinAmaxes() {
    std::size_t b = 0;
    for (; b < blocks(); ++b) {
      std::uint32_t greatest = 0;
      for (std::size_t c = b * strip.width; c < endOf(b); ++c)
        greatest = amax[c] > greatest ? amax[c] : greatest;
      amax[b] = greatest;
    }
    for (; b % kLanes != 0; ++b)
      amax[b] = 0;
  }

  /// Of the columns from `c` to `end`.
  template <std::size_t kRows>
  OCTAVO_INLINE void raiseAmaxes(std::uint32_t* amax, const float* rows, std::size_t c,
                                 std::size_t end) const {
    const std::size_t stride = strip.stride;
    for (; c + kLanes <= end; c += kLanes)
      raiseLanes<kRows>(amax + c, rows + c, stride);
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t rest = c; rest < end; ++rest) {
        std::uint32_t a;
        __builtin_memcpy(&a, rows + r * stride + rest, sizeof(a));
        a &= kAbs;
        amax[rest] = a > amax[rest] ? a : amax[rest];
      }
  }

  /// What is left where strips made fewer steps: columns that fill none, steps of rare kinds.
  __attribute__((noinline)) void finishAhead(StripsAhead& ahead) const {
    for (; ahead.row < ahead.rows; ahead.row += 4, ahead.column = 0)
      raiseAmaxes<4>(ahead.amaxes, ahead.values + ahead.row * strip.stride, ahead.column,
                     ahead.columns);
    for (std::size_t r = 0; r < ahead.rows; ++r)
      raiseAmaxes<1>(ahead.amaxes, ahead.values + r * strip.stride, ahead.columns / kLanes * kLanes,
                     ahead.columns);
  }

  template <std::size_t kRows>
  static OCTAVO_INLINE void raiseLanes(std::uint32_t* amax, const float* rows, std::size_t stride) {
    U32 greatest = load<U32>(amax);
    for (std::size_t r = 0; r < kRows; ++r)
      greatest = maximum(greatest, load<U32>(rows + r * stride) & kAbs);
    store(amax, greatest);
  }

  /// As `judge` says, block by block: amaxes of what counts; masks; codes that no rule decides.
  __attribute__((noinline)) std::int64_t judgeNonFinite() {
    __builtin_memset(kept, 0xFF, sizeof(kept));
    __builtin_memset(codes, 0xFF, sizeof(codes));
    std::int64_t count = 0;
    for (std::size_t b = 0; b < blocks(); ++b) {
      std::uint32_t greatest = 0;
      bool hasNan = false, hasInf = false;
      for (std::size_t r = 0; r < strip.rows; ++r)
        for (std::size_t c = b * strip.width; c < endOf(b); ++c) {
          std::uint32_t a;
          __builtin_memcpy(&a, strip.values + r * strip.stride + c, sizeof(a));
          a &= kAbs;
          count += a >= kInfinity;
          hasNan |= a > kInfinity;
          hasInf |= a == kInfinity;
          greatest = a < kInfinity && a > greatest ? a : greatest;
        }
      const Judgement found = judge(plan, greatest, hasNan, hasInf);
      amax[b] = found.amax;
      kept[b] = found.kept;
      codes[b] = found.code;
    }
    return count;
  }

  /// Returns whether the quotients may be taken by dividedFast.
  template <bool kUsual> bool findScales(bool isFinite) {
    U32 unfit = {};
    U32 nanScales = {};
    std::uint8_t scales[kStripColumns * 4];
    const std::size_t count =
        strip.width == 1 ? (strip.columns + kStep - 1) / kStep * kStep : blocks();
    for (std::size_t b = 0; b < count; b += kLanes) {
      Scales found = finder.template find<kUsual>(load<U32>(amax + b));
      U32 code = found.code;
      if (!isFinite) {
        found = forced<kScale>(found, load<U32>(codes + b));
        code = select(load<U32>(kept + b), found.code, splat(plan.nanScale));
      }
      factors.put(b, found.factor);
      unfit |= finder.template unfit<kUsual>(found);
      store(codes + b, found.code);
      nanScales |= (U32)(code == splat(plan.nanScale));
      storeScales<kScale>(scales + b * plan.scaleBytes, code);
    }
    mayBePoisoned =
        QuantizeStep<Quotient::Multiply, Encoder>::kIsExact || !isFinite || anySet(nanScales);
    if (mayBePoisoned)
      findKept(isFinite);
    __builtin_memcpy(strip.scales, scales, blocks() * plan.scaleBytes);
    if (strip.width > 1)
      spreadBlocks();
    return !anySet(unfit);
  }

  __attribute__((noinline)) void findKept(bool isFinite) {
    for (std::size_t b = 0; b < (strip.columns + kStep - 1) / kStep * kStep; b += kLanes) {
      const U32 isKept = (U32)(load<U32>(codes + b) != splat(plan.nanScale));
      store(kept + b, isFinite ? isKept : isKept & load<U32>(kept + b));
    }
  }

  /// Copies the state of blocks to each of their columns, from the last, which moves furthest.
  void spreadBlocks() {
    std::size_t end = (strip.columns + kStep - 1) / kStep * kStep;
    for (std::size_t b = blocks(); b-- > 0;) {
      const Factor factor = factors.all(b);
      const U32 code = splat(codes[b]);
      const U32 isKept = mayBePoisoned ? splat(kept[b]) : U32{};
      std::size_t c = b * strip.width;
      const std::size_t begin = c;
      for (; c + kLanes <= end; c += kLanes) {
        factors.put(c, factor);
        store(codes + c, code);
        store(kept + c, isKept);
      }
      for (; c < end; ++c) {
        factors.putOne(c, factor);
        codes[c] = code[0];
        kept[c] = isKept[0];
      }
      end = begin;
    }
  }

  template <typename Step> void encodeRows(const Step& step) {
    const bool streaming = strip.stores == Stores::Streaming && isAligned(strip.codes) &&
                           strip.codeStride % kVectorBytes == 0;
    if constexpr (Step::kIsExact) {
      encodeExactly(step); // takes longer than memory does
    } else if (strip.ahead) {
      if (streaming)
        encodeSteps<true, true>(step);
      else
        encodeSteps<false, true>(step);
    } else if (streaming) {
      encodeSteps<true, false>(step);
    } else {
      encodeSteps<false, false>(step);
    }
  }

  template <typename Step> void encodeExactly(const Step& step) {
    for (std::size_t r = 0; r < strip.rows; ++r) {
      const float* row = strip.values + r * strip.stride;
      std::uint8_t* to = strip.codes + r * strip.codeStride;
      const std::uint32_t* random = strip.random ? strip.random + r * strip.stride : nullptr;
      if (strip.stream) {
        fillRandom(*strip.stream, strip.first + r * strip.stride, numbers, strip.columns);
        random = numbers;
      }
      for (std::size_t c = 0; c < wholeSteps(); c += kStep)
        store(to + c, encode(step, row + c, c, random ? random + c : nullptr));
      if (rest() != 0)
        encodeRest(step, row + wholeSteps(), to + wholeSteps(),
                   random ? random + wholeSteps() : nullptr);
    }
  }

  /// kAhead: and looks at as many values of the strips that come next.
  template <bool kStreaming, bool kAhead, typename Step>
  __attribute__((noinline)) void encodeSteps(Step step) {
    // Copies: as far as the compiler knows, the stores would change the strip's.
    const QuantizeStripArguments strip = this->strip;
    StripsAhead ahead = kAhead ? *strip.ahead : StripsAhead{};
    const std::size_t whole = wholeSteps();
    for (std::size_t r = 0; r < strip.rows; ++r) {
      const float* row = strip.values + r * strip.stride;
      std::uint8_t* to = strip.codes + r * strip.codeStride;
      for (std::size_t c = 0; c < whole; c += kStep) {
        storeVector<kStreaming>(to + c, encode(step, row + c, c, nullptr));
        if constexpr (kAhead) {
          const float* const rows = ahead.values + ahead.row * strip.stride + ahead.column;
          for (std::size_t i = 0; i < 4; ++i)
            prefetchLevel2<kNearPrefetchBytes>(rows + i * strip.stride);
          raiseLanes<4>(ahead.amaxes + ahead.column, rows, strip.stride);
          ahead.column += kLanes;
          if (ahead.column + kLanes > ahead.columns) {
            ahead.column = 0;
            ahead.row += 4;
          }
        }
      }
    }
    if constexpr (kAhead)
      *strip.ahead = ahead;
    if constexpr (kStreaming && !kAhead) // or the next call does it
      finishStreaming();
    if (rest() != 0)
      encodeRests(step);
  }

  /// Encodes the rest of each row after encodeSteps.
  template <typename Step> __attribute__((noinline)) void encodeRests(const Step& step) {
    for (std::size_t r = 0; r < strip.rows; ++r)
      encodeRest(step, strip.values + r * strip.stride + wholeSteps(),
                 strip.codes + r * strip.codeStride + wholeSteps(), nullptr);
  }

  template <typename Step>
  void encodeRest(Step step, const float* row, std::uint8_t* to, const std::uint32_t* random) {
    float in[kStep] = {};
    std::uint32_t bitsIn[kStep] = {};
    __builtin_memcpy(in, row, rest() * sizeof(float));
    if (random)
      __builtin_memcpy(bitsIn, random, rest() * sizeof(*random));
    std::uint8_t out[kStep];
    store(out, encode(step, in, wholeSteps(), bitsIn));
    __builtin_memcpy(to, out, rest());
  }

  /// Encodes kStep values from column `c` on.
  template <typename Step>
  OCTAVO_INLINE U8 encode(const Step& step, const float* from, std::size_t c,
                          const std::uint32_t* random) const {
    constexpr bool kMayBePoisoned = Step::kIsExact;
    U32 x[4], code[4], mask[4];
    Factor factor[4];
    for (std::size_t j = 0; j < 4; ++j) {
      x[j] = load<U32>(from + j * kLanes);
      if constexpr (kMayBePoisoned)
        mask[j] = load<U32>(kept + c + j * kLanes);
      factor[j] = factors.lanes(c + j * kLanes);
      code[j] = load<U32>(codes + c + j * kLanes);
    }
    U8 result = step(x, factor, code, random);
    if constexpr (kMayBePoisoned) // elements of a NaN block are code 0
      result &= narrow(mask);
    return result;
  }

  static constexpr std::size_t kWidth = kStripColumns; // a multiple of kStep

  const BlockPlan& plan;
  ScaleFinder<kScale> finder;
  const Encoder& encoder;
  const QuantizeStripArguments& strip;
  std::uint32_t* const amax;
  bool mayBePoisoned = false;
  alignas(64) std::uint32_t codes[kWidth];
  alignas(64) std::uint32_t kept[kWidth];
  alignas(64) std::uint32_t numbers[kWidth]; ///< of a row
  Factors<kScale, kWidth> factors;
};

template <ScaleKind kScale>
static std::int64_t quantizeStripOf(const BlockPlan& plan, const QuantizeStripArguments& strip) {
  const bool nearest = plan.element.rounding == Rounding::TiesToEven && !plan.isExact;
  if (kScale != ScaleKind::Float32 && hasPositiveZeros(plan))
    return StripQuantizer<kScale, PositiveZero<FastFloat>>(plan, positiveZeroEncoder(plan), strip)
        .quantize();
  if (kScale == ScaleKind::Float32 && hasRoundedQuotients(plan))
    return StripQuantizer<kScale, RoundedQuotient<FastFloat>>(plan, roundedQuotientEncoder(plan),
                                                              strip)
        .quantize();
  if constexpr (kScale == ScaleKind::Narrow && E2M1ByTable::kExists) {
    using Encoder = Tabled<E2M1ByTable>;
    if (hasTabledE2M1(plan))
      return StripQuantizer<kScale, Encoder>(plan, Encoder{}, strip).quantize();
  }
  if (nearest && plan.element.kind == ConvertPlan::Kind::Float)
    return StripQuantizer<kScale, FastFloat>(plan, FastFloat(plan.element), strip).quantize();
  if (nearest && plan.element.kind == ConvertPlan::Kind::Integer)
    return StripQuantizer<kScale, FastInteger>(plan, FastInteger(plan.element), strip).quantize();
  return StripQuantizer<kScale, NoEncoder>(plan, NoEncoder{}, strip).quantize();
}

static std::int64_t quantizeStrip(const BlockPlan& plan, const QuantizeStripArguments& strip) {
  switch (plan.scale) {
  case ScaleKind::PowerOfTwo:
    return quantizeStripOf<ScaleKind::PowerOfTwo>(plan, strip);
  case ScaleKind::Float32:
    return quantizeStripOf<ScaleKind::Float32>(plan, strip);
  case ScaleKind::Narrow:
    return quantizeStripOf<ScaleKind::Narrow>(plan, strip);
  case ScaleKind::Other:
    break;
  }
  __builtin_unreachable(); // precondition
}

template <Quotient kQuotient, typename Encoder>
static void quantizeSegmentBy(const BlockPlan& plan, const Encoder& encoder,
                              const QuantizeSegmentArguments& segment) {
  const QuantizeStep<kQuotient, Encoder> step{plan, encoder};
  const Factor factor = divisorFactor(splat(segment.factor));
  const U32 code = splat(segment.scaleCode);
  auto encode = [&](const float* from, const std::uint32_t* random) {
    U32 x[4];
    for (int j = 0; j < 4; ++j)
      x[j] = load<U32>(from + j * kLanes);
    return step(x, {factor, factor, factor, factor}, {code, code, code, code}, random);
  };
  std::size_t i = 0;
  for (; i + kStep <= segment.n; i += kStep)
    store(segment.codes + i,
          encode(segment.values + i, segment.random ? segment.random + i : nullptr));
  if (i == segment.n)
    return;
  const std::size_t rest = segment.n - i;
  float in[kStep] = {};
  std::uint32_t bitsIn[kStep] = {};
  std::uint8_t out[kStep];
  __builtin_memcpy(in, segment.values + i, rest * sizeof(float));
  if (segment.random)
    __builtin_memcpy(bitsIn, segment.random + i, rest * sizeof(*segment.random));
  store(out, encode(in, bitsIn));
  __builtin_memcpy(segment.codes + i, out, rest);
}

template <Quotient kQuotient>
static void quantizeSegmentOf(const BlockPlan& plan, const QuantizeSegmentArguments& segment) {
  const bool fast =
      plan.element.rounding == Rounding::TiesToEven && !plan.isExact && !segment.exactly;
  if (fast && plan.element.kind == ConvertPlan::Kind::Float)
    return quantizeSegmentBy<kQuotient>(plan, FastFloat(plan.element), segment);
  if (fast && plan.element.kind == ConvertPlan::Kind::Integer)
    return quantizeSegmentBy<kQuotient>(plan, FastInteger(plan.element), segment);
  if (kQuotient == Quotient::Divide && hasRoundedQuotients(plan) && !segment.exactly)
    return quantizeSegmentBy<kQuotient>(plan, roundedQuotientEncoder(plan), segment);
  if (kQuotient == Quotient::Multiply && hasPositiveZeros(plan) && !segment.exactly)
    return quantizeSegmentBy<kQuotient>(plan, positiveZeroEncoder(plan), segment);
  return quantizeSegmentBy<kQuotient>(plan, NoEncoder{}, segment);
}

static void quantizeSegment(const BlockPlan& plan, const QuantizeSegmentArguments& segment) {
  switch (plan.quotient) {
  case numerics::Quotient::Exact:
    return quantizeSegmentOf<Quotient::Multiply>(plan, segment);
  case numerics::Quotient::Divided:
    if (kHasMultiplyAdd && plan.quotientType == WideType::F32 &&
        !anySet(immoderate(splat(segment.factor))))
      return quantizeSegmentOf<Quotient::Fast>(plan, segment);
    return quantizeSegmentOf<Quotient::Divide>(plan, segment);
  case numerics::Quotient::Multiplied:
    return quantizeSegmentOf<Quotient::Product>(plan, segment);
  case numerics::Quotient::Successive:
    return quantizeSegmentOf<Quotient::Successive>(plan, segment);
  }
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
