// Dequantization of codes under f32 scales. The scale of a poisoned block is NaN.
#pragma once

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/generic/Decode.h"
#include "octavo/Kernels/generic/Stream.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// element * scale * outer, rounded once. With an outer scale, element and scale are both narrow,
/// so the first product is exact; without an outer scale, there is no second product.
template <bool kOuter> OCTAVO_INLINE F32 unscaled(F32 element, F32 scale, F32 outer) {
  if constexpr (kOuter)
    return element * scale * outer;
  else
    return element * scale;
}

/// kStep values from the first block's start. `kOneScale`: a step lies in one block.
template <bool kOuter, bool kOneScale, typename Step>
OCTAVO_INLINE void dequantizeStep(const Step& step, const DequantizeRunArguments& run,
                                  std::size_t i, std::uint32_t shift, F32 outer, F32 (&x)[4]) {
  step(run.codes + i, x);
  F32 scale = splat(run.scales[i >> shift]);
  for (std::size_t j = 0; j < 4; ++j) {
    if constexpr (!kOneScale)
      scale = splat(run.scales[(i + j * kLanes) >> shift]);
    x[j] = unscaled<kOuter>(x[j], scale, outer);
  }
}

template <bool kOuter, bool kOneScale, typename Step, typename Out>
static void dequantizeRunBy(const Step& step, const DequantizeRunArguments& run) {
  const F32 outer = splat(run.outer);
  const auto shift = static_cast<std::uint32_t>(__builtin_ctzll(run.block));
  Out out(run.values);
  const std::size_t whole = run.n / kStep * kStep;
  std::size_t i = 0;
  while (i < whole) {
    constexpr std::size_t kPiece = Stream::kRoom / sizeof(float);
    const std::size_t end = whole - i < kPiece ? whole : i + kPiece;
    const std::size_t begin = i;
    auto* to = reinterpret_cast<float*>(out.place());
    for (; i < end; i += kStep) {
      F32 x[4];
      dequantizeStep<kOuter, kOneScale>(step, run, i, shift, outer, x);
      for (std::size_t j = 0; j < 4; ++j)
        Out::put(to + (i - begin) + j * kLanes, x[j]);
    }
    out.advance((end - begin) * sizeof(float));
  }
  out.finish();
  if (i == run.n)
    return;
  std::uint8_t in[kStep] = {};
  float rest[kStep];
  __builtin_memcpy(in, run.codes + i, run.n - i);
  F32 x[4];
  step(in, x);
  for (std::size_t j = 0; j < 4 && i + j * kLanes < run.n; ++j)
    store(rest + j * kLanes,
          unscaled<kOuter>(x[j], splat(run.scales[(i + j * kLanes) >> shift]), outer));
  __builtin_memcpy(run.values + i, rest, (run.n - i) * sizeof(float));
}

template <bool kOuter, typename Step>
static void dequantizeStripBy(const Step& step, const DequantizeStripArguments& strip) {
  const F32 outer = splat(strip.outer);
  const bool streaming = strip.stores == Stores::Streaming && isAligned(strip.values) &&
                         strip.stride * sizeof(float) % kVectorBytes == 0;
  for (std::size_t r = 0; r < strip.rows; ++r) {
    const std::uint8_t* codes = strip.codes + r * strip.stride;
    float* values = strip.values + r * strip.stride;
    std::size_t c = 0;
    for (; c + kStep <= strip.columns; c += kStep) {
      F32 x[4];
      step(codes + c, x);
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t at = c + j * kLanes;
        const F32 value = unscaled<kOuter>(x[j], load<F32>(strip.scales + at), outer);
        if (streaming)
          storeStreaming(values + at, value);
        else
          store(values + at, value);
      }
    }
    if (c == strip.columns)
      continue;
    const std::size_t rest = strip.columns - c;
    std::uint8_t in[kStep] = {};
    float scales[kStep] = {};
    float out[kStep];
    __builtin_memcpy(in, codes + c, rest);
    __builtin_memcpy(scales, strip.scales + c, rest * sizeof(float));
    F32 x[4];
    step(in, x);
    for (std::size_t j = 0; j < 4; ++j)
      store(out + j * kLanes, unscaled<kOuter>(x[j], load<F32>(scales + j * kLanes), outer));
    __builtin_memcpy(values + c, out, rest * sizeof(float));
  }
  if (streaming)
    finishStreaming();
}

template <typename Out>
static void dequantizeRunTo(const DecodePlan& plan, const DequantizeRunArguments& run) {
  withDecodeStep(plan, [&](const auto& step) {
    using Step = __remove_cvref(decltype(step));
    const bool oneScale = run.block >= kStep;
    if (run.outer != 1.0f)
      oneScale ? dequantizeRunBy<true, true, Step, Out>(step, run)
               : dequantizeRunBy<true, false, Step, Out>(step, run);
    else
      oneScale ? dequantizeRunBy<false, true, Step, Out>(step, run)
               : dequantizeRunBy<false, false, Step, Out>(step, run);
  });
}

static void dequantizeRun(const DecodePlan& plan, const DequantizeRunArguments& run) {
  if (run.stores == Stores::Cached)
    dequantizeRunTo<Direct>(plan, run);
  else if (isAligned(run.values))
    dequantizeRunTo<AlignedStream>(plan, run);
  else
    dequantizeRunTo<Stream>(plan, run);
}

static void dequantizeStrip(const DecodePlan& plan, const DequantizeStripArguments& strip) {
  withDecodeStep(plan, [&](const auto& step) {
    using Step = __remove_cvref(decltype(step));
    strip.outer != 1.0f ? dequantizeStripBy<true, Step>(step, strip)
                        : dequantizeStripBy<false, Step>(step, strip);
  });
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
