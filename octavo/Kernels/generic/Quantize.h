// Values in blocks that are contiguous, to codes and scales: kLanes blocks at a time, so that their
// scales are computed in one vector. A first look at the values finds the amaxes, a second one, in
// the first-level cache, makes the codes.
#pragma once

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/generic/Convert.h"
#include "octavo/Kernels/generic/Scale.h"
#include "octavo/Kernels/generic/Stream.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Lanes `At::index(i)` of a and b, as one row.
template <typename At, int... kLane> struct Shuffle {
  static OCTAVO_INLINE U32 of(U32 a, U32 b) {
    return __builtin_shufflevector(a, b, At::index(kLane)...);
  }
};
template <typename T, T... kValues> struct Sequence {
  template <typename At> using Shuffled = Shuffle<At, kValues...>;
};
template <typename At> OCTAVO_INLINE U32 shuffled(U32 a, U32 b) {
  return __make_integer_seq<Sequence, int, kLanes>::template Shuffled<At>::of(a, b);
}

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

/// The greatest of each vector's lanes, in a lane each. Two vectors' neighbours are compared within
/// 16 bytes as long as they lie there, then whole 16 bytes: the order comes out right.
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

/// As numerics::quantize treats a block that has infinities or NaN: the amax of what counts, and
/// whether the block is poisoned (all ones).
struct NonFiniteBlocks {
  U32 amax, poisoned;
  std::int64_t count;
};
static __attribute__((noinline)) NonFiniteBlocks
nonFiniteBlocks(const QuantizePlan& plan, const float* values, std::size_t block) {
  std::uint32_t amax[kLanes] = {}, poisoned[kLanes] = {};
  std::int64_t count = 0;
  for (int b = 0; b < kLanes; ++b)
    for (std::size_t i = 0; i < block; ++i) {
      std::uint32_t a;
      __builtin_memcpy(&a, values + static_cast<std::size_t>(b) * block + i, sizeof(a));
      a &= kAbs;
      count += a >= kInfinity;
      if (a > kInfinity || (a == kInfinity && plan.nonFinite == NonFinite::Propagate))
        poisoned[b] = ~0u;
      else if (a > amax[b])
        amax[b] = a == kInfinity ? kInfinity - 1 : a;
    }
  return {load<U32>(amax), load<U32>(poisoned), count};
}

template <ScaleKind kScale> class GroupQuantizer {
public:
  GroupQuantizer(const QuantizePlan& plan, std::size_t block)
      : plan(plan), block(block), shift(static_cast<std::uint32_t>(__builtin_ctzll(block))) {}

  /// kLanes blocks; kBlock 0: of a size known at run time. Returns the number of non-finite values,
  /// or -1 where they are refused.
  template <typename Encoder, std::size_t kBlock, typename Out>
  OCTAVO_INLINE std::int64_t group(const Encoder& encoder, const float* values, Out& out,
                                   void* scales, const std::uint32_t* random) const {
    const std::size_t size = kBlock ? kBlock : block;
    const U32 amax = blockAmaxes(values, size);
    if (__builtin_expect(__builtin_reduce_max(amax) >= kInfinity, 0))
      return plan.nonFinite == NonFinite::Error ? -1 : nonFiniteGroup(values, out, scales, random);
    const Scales found = scalesOf<kScale>(plan, amax);
    storeScales<kScale>(scales, found.code);
    encode<kBlock, false>(QuantizeStep<kScale, Encoder>{plan, encoder}, values, found, U32{}, out,
                          random);
    return 0;
  }

private:
  template <typename Out>
  __attribute__((noinline)) std::int64_t nonFiniteGroup(const float* values, Out& out, void* scales,
                                                        const std::uint32_t* random) const {
    const NonFiniteBlocks blocks = nonFiniteBlocks(plan, values, block);
    const Scales found = scalesOf<kScale>(plan, blocks.amax);
    storeScales<kScale>(scales, select(blocks.poisoned, splat(plan.nanScale), found.code));
    encode<0, true>(QuantizeStep<kScale, NoEncoder>{plan, {}}, values, found, blocks.poisoned, out,
                    random);
    return blocks.count;
  }

  template <std::size_t kBlock, bool kPoisoned, typename Step, typename Out>
  OCTAVO_INLINE void encode(const Step& step, const float* values, const Scales& found,
                            U32 poisoned, Out& out, const std::uint32_t* random) const {
    // A lane of a block's scale is read back as often as the block has vectors.
    float factors[kLanes];
    std::uint32_t codes[kLanes], masks[kLanes];
    store(factors, found.factor);
    store(codes, found.code);
    store(masks, ~poisoned);
    const std::size_t size = kBlock ? kBlock : block;
    for (std::size_t i = 0; i < size * kLanes; i += kStep) {
      U32 x[4], code[4];
      F32 factor[4];
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t at = i + j * kLanes;
        const std::size_t b = kBlock ? at / size : at >> shift;
        x[j] = load<U32>(values + at);
        if constexpr (kPoisoned) // elements of a NaN block are code 0
          x[j] &= splat(masks[b]);
        factor[j] = splat(factors[b]);
        code[j] = splat(codes[b]);
      }
      out.append(step(x, factor, code, random ? random + i : nullptr));
    }
  }

  const QuantizePlan& plan;
  std::size_t block;
  std::uint32_t shift;
};

/// The last blocks, fewer than kLanes, the last of them perhaps short: zeros fill them up.
template <ScaleKind kScale, typename Encoder>
static std::int64_t quantizeLastGroup(const QuantizePlan& plan, const Encoder& encoder,
                                      const float* values, std::size_t n, std::size_t block,
                                      std::uint8_t* codes, void* scales,
                                      const std::uint32_t* random) {
  constexpr std::size_t kMost = kLanes * kLargestRunBlock;
  float in[kMost];
  std::uint32_t bitsIn[kMost];
  std::uint8_t out[kMost];
  std::uint32_t scalesOut[kLanes];
  __builtin_memset(in, 0, block * kLanes * sizeof(float));
  __builtin_memcpy(in, values, n * sizeof(float));
  if (random) {
    __builtin_memset(bitsIn, 0, block * kLanes * sizeof(*random));
    __builtin_memcpy(bitsIn, random, n * sizeof(*random));
  }
  Direct direct(out);
  const std::int64_t count =
      GroupQuantizer<kScale>(plan, block)
          .template group<Encoder, 0>(encoder, in, direct, scalesOut, random ? bitsIn : nullptr);
  __builtin_memcpy(codes, out, n);
  __builtin_memcpy(scales, scalesOut, (n + block - 1) / block * plan.scaleBytes);
  return count;
}

template <ScaleKind kScale, typename Encoder, std::size_t kBlock, typename Out>
static std::int64_t quantizeGroups(const QuantizePlan& plan, const Encoder& encoder,
                                   const QuantizeRunArguments& run) {
  const std::size_t block = kBlock ? kBlock : run.block;
  const std::size_t size = block * kLanes;
  const GroupQuantizer<kScale> quantizer(plan, block);
  auto* scales = static_cast<std::uint8_t*>(run.scales);
  Out out(run.codes);
  std::int64_t nonFinite = 0;
  std::size_t i = 0;
  for (; i + size <= run.n; i += size, scales += kLanes * plan.scaleBytes) {
    const std::int64_t count = quantizer.template group<Encoder, kBlock>(
        encoder, run.values + i, out, scales, run.random ? run.random + i : nullptr);
    if (__builtin_expect(count != 0, 0)) {
      if (count < 0)
        return -1;
      nonFinite += count;
    }
  }
  out.finish();
  if (i < run.n) {
    const std::int64_t count =
        quantizeLastGroup<kScale>(plan, encoder, run.values + i, run.n - i, block, run.codes + i,
                                  scales, run.random ? run.random + i : nullptr);
    return count < 0 ? -1 : nonFinite + count;
  }
  return nonFinite;
}

template <ScaleKind kScale, typename Encoder, std::size_t kBlock>
static std::int64_t quantizeRunBy(const QuantizePlan& plan, const Encoder& encoder,
                                  const QuantizeRunArguments& run) {
  if (run.stores == Stores::Streaming)
    return quantizeGroups<kScale, Encoder, kBlock, Stream>(plan, encoder, run);
  return quantizeGroups<kScale, Encoder, kBlock, Direct>(plan, encoder, run);
}

template <ScaleKind kScale>
static std::int64_t quantizeRunOf(const QuantizePlan& plan, const QuantizeRunArguments& run) {
  const bool nearest = plan.element.rounding == Rounding::TiesToEven;
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

static std::int64_t quantizeRun(const QuantizePlan& plan, const QuantizeRunArguments& run) {
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
