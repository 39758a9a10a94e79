// The loops that decode narrow codes to wide values. A set's Parts.h defines DecodeStep, which
// decodes kStep codes.
#pragma once

#include "octavo/Kernels/ElementPlans.h"
#include "octavo/Kernels/WideMemory.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

OCTAVO_INLINE float decodeOne(const DecodePlan& plan, std::uint8_t code) {
  const std::uint32_t half = plan.low[code] | plan.high[code] << 8;
  return __builtin_bit_cast(float, half << 16); // bf16 is the upper half of f32
}

/// Decodes kStep codes with one table look-up each: the generic form.
OCTAVO_INLINE void decodeByTable(const DecodePlan& plan, const std::uint8_t* codes, F32 (&x)[4]) {
  float values[kStep];
  for (int i = 0; i < kStep; ++i)
    values[i] = decodeOne(plan, codes[i]);
  for (int i = 0; i < 4; ++i)
    x[i] = load<F32>(values + i * kLanes);
}
struct DecodeByTable {
  const DecodePlan& plan;
  OCTAVO_INLINE void operator()(const std::uint8_t* codes, F32 (&x)[4]) const {
    decodeByTable(plan, codes, x);
  }
};

/// Sinks store kStep values. The bf16 sink takes values of a narrow format, whose lower half is 0.
struct StoreF32 {
  using Element = float;
  template <bool kStreaming> static OCTAVO_INLINE void store(Element* to, const F32 (&x)[4]) {
    for (int i = 0; i < 4; ++i)
      storeVector<kStreaming>(to + i * kLanes, x[i]);
  }
};
struct StoreBf16 {
  using Element = std::uint16_t;
  template <bool kStreaming> static OCTAVO_INLINE void store(Element* to, const F32 (&x)[4]) {
    for (int i = 0; i < 4; i += 2)
      storeVector<kStreaming>(to + i * kLanes, upperHalves(x[i], x[i + 1]));
  }
};
struct StoreF16 {
  using Element = std::uint16_t;
  template <bool kStreaming> static OCTAVO_INLINE void store(Element* to, const F32 (&x)[4]) {
    for (int i = 0; i < 4; i += 2)
      storeVector<kStreaming>(to + i * kLanes, roundToF16(x[i], x[i + 1]));
  }
};

/// Decodes fewer than kStep codes, padded with zeros to a whole step.
template <typename Sink, typename Step>
static void decodePartialStep(const Step& step, const std::uint8_t* codes,
                              typename Sink::Element* values, std::size_t n) {
  std::uint8_t in[kStep] = {};
  typename Sink::Element out[kStep];
  __builtin_memcpy(in, codes, n);
  F32 x[4];
  step(in, x);
  Sink::template store<false>(out, x);
  __builtin_memcpy(values, out, n * sizeof(*values));
}

template <typename Sink, bool kStreaming, typename Step>
static void decodeSteps(const Step& step, const std::uint8_t* codes, typename Sink::Element* values,
                        std::size_t n) {
  std::size_t i = 0;
  if constexpr (kStreaming) {
    const std::size_t head =
        -reinterpret_cast<std::uintptr_t>(values) % kVectorBytes / sizeof(*values);
    i = head < n ? head : n;
    decodePartialStep<Sink>(step, codes, values, i);
  }
  for (; i + kStep <= n; i += kStep) {
    F32 x[4];
    step(codes + i, x);
    Sink::template store<kStreaming>(values + i, x);
  }
  if (i < n)
    decodePartialStep<Sink>(step, codes + i, values + i, n - i);
  if constexpr (kStreaming)
    finishStreaming();
}

template <typename Sink>
static void decode(const DecodePlan& plan, const std::uint8_t* codes, void* values, std::size_t n,
                   Stores stores) {
  auto* to = static_cast<typename Sink::Element*>(values);
  // Values that are not aligned to their size can never be aligned to a vector.
  const bool streaming =
      stores == Stores::Streaming && reinterpret_cast<std::uintptr_t>(values) % sizeof(*to) == 0;
  withDecodeStep(plan, [&](const auto& step) {
    if (streaming)
      decodeSteps<Sink, true>(step, codes, to, n);
    else
      decodeSteps<Sink, false>(step, codes, to, n);
  });
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
