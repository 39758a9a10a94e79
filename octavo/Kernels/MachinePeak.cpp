#include "octavo/Kernels/MachinePeak.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/Execution.h"

#include <cassert>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace octavo::kernels {

namespace {

/// More than latency times throughput, fewer than registers.
constexpr int kChains = 12;
constexpr int kSteps = 300000;
/// Of tiles, which take 16 cycles each.
constexpr int kTileChains = 4, kTileSteps = 50000;

#if defined(__x86_64__)

// Each sum is one that the compiler knows nothing of, so that every step is there.

__attribute__((target("avx2,fma"))) void multiplyAdds256() {
  __m256 sums[kChains], a = _mm256_set1_ps(0.5f), b = a;
  for (__m256& sum : sums)
    sum = a;
  asm volatile("" : "+x"(a), "+x"(b));
  for (int i = 0; i < kSteps; ++i)
    for (__m256& sum : sums) {
      sum = _mm256_fmadd_ps(sum, a, b);
      asm volatile("" : "+x"(sum));
    }
}

__attribute__((target("avx2"))) void byteDots256() {
  __m256i sums[kChains], a = _mm256_set1_epi8(1), b = a;
  for (__m256i& sum : sums)
    sum = a;
  asm volatile("" : "+x"(a), "+x"(b));
  for (int i = 0; i < kSteps; ++i)
    for (__m256i& sum : sums) {
      asm volatile("" : "+x"(a)); // or the product is taken out of the loop
      sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(a, b));
      asm volatile("" : "+x"(sum));
    }
}

__attribute__((target("avx512f"))) void multiplyAdds512() {
  __m512 sums[kChains], a = _mm512_set1_ps(0.5f), b = a;
  for (__m512& sum : sums)
    sum = a;
  asm volatile("" : "+v"(a), "+v"(b));
  for (int i = 0; i < kSteps; ++i)
    for (__m512& sum : sums) {
      sum = _mm512_fmadd_ps(sum, a, b);
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("avx512f,avx512vnni"))) void byteDots512() {
  __m512i sums[kChains], a = _mm512_set1_epi8(1), b = a;
  for (__m512i& sum : sums)
    sum = a;
  asm volatile("" : "+v"(a), "+v"(b));
  for (int i = 0; i < kSteps; ++i)
    for (__m512i& sum : sums) {
      sum = _mm512_dpbusd_epi32(sum, a, b);
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("avx512f,avx512bf16"))) void pairDots512() {
  __m512 sums[kChains];
  __m512i a = _mm512_set1_epi16(0x3F80), b = a;
  for (__m512& sum : sums)
    sum = _mm512_setzero_ps();
  asm volatile("" : "+v"(a), "+v"(b));
  for (int i = 0; i < kSteps; ++i)
    for (__m512& sum : sums) {
      sum = _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("amx-tile,amx-bf16"))) void tileDots() {
  struct alignas(64) {
    std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
    std::uint16_t columnBytes[16] = {64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
  } configuration;
  _tile_loadconfig(&configuration);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5);
  for (int i = 0; i < kTileSteps; ++i) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
}

#elif defined(__aarch64__)

void multiplyAdds128() {
  using Floats = float __attribute__((vector_size(16)));
  Floats sums[kChains], a = {0.5f, 0.5f, 0.5f, 0.5f}, b = a;
  for (Floats& sum : sums)
    sum = a;
  asm volatile("" : "+w"(a), "+w"(b));
  for (int i = 0; i < kSteps; ++i)
    for (Floats& sum : sums) {
      sum = __builtin_elementwise_fma(sum, a, b);
      asm volatile("" : "+w"(sum));
    }
}

#endif

struct Loop {
  void (*run)() = nullptr;
  int products = 0; ///< of a step of one chain
  std::int64_t steps = std::int64_t{kChains} * kSteps;
};

Loop loopOf(Peak peak) {
#if defined(__x86_64__)
  const bool isWide = __builtin_cpu_supports("avx512f") != 0;
  const bool isKnown = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  switch (peak) {
  case Peak::F32:
    return isWide ? Loop{multiplyAdds512, 16} : isKnown ? Loop{multiplyAdds256, 8} : Loop{};
  case Peak::Bf16:
    return usesTiles(Isa::Avx512)  ? Loop{tileDots, 16 * 16 * 32, kTileChains * kTileSteps}
           : usesBf16(Isa::Avx512) ? Loop{pairDots512, 32}
                                   : Loop{};
  case Peak::Int8:
    return isWide && __builtin_cpu_supports("avx512vnni") ? Loop{byteDots512, 64}
           : isKnown                                      ? Loop{byteDots256, 32}
                                                          : Loop{};
  }
#elif defined(__aarch64__)
  return peak == Peak::F32 ? Loop{multiplyAdds128, 4} : Loop{};
#else
  static_cast<void>(peak);
  return {};
#endif
}

using Line = std::uint64_t __attribute__((vector_size(64)));

/// As many streams as keep all levels of memory busy.
constexpr std::size_t kStreams = 4;

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void readStreams(const std::byte* memory, std::size_t bytes) {
  const std::size_t lines = bytes / sizeof(Line) / kStreams;
  const Line* const from = reinterpret_cast<const Line*>(memory);
  Line sums[kStreams] = {};
  for (std::size_t i = 0; i < lines; ++i)
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      sums[stream] ^= from[stream * lines + i];
  const Line sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  asm volatile("" : : "r"(sum[0]));
}

/// Calls f(i) on each of so many threads.
template <typename F> void onThreads(int threads, const F& f) {
  forRanges(static_cast<std::size_t>(threads), 1, {.threads = threads},
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i)
                f(i);
            });
}

} // namespace

double runPeak(Peak peak, int threads) {
  const Loop loop = loopOf(peak);
  if (loop.run == nullptr)
    return 0;
  onThreads(threads, [&](std::size_t) { loop.run(); });
  return 2.0 * threads * loop.products * static_cast<double>(loop.steps);
}

double readMemory(const std::byte* memory, std::size_t bytes, int times, int threads) {
  assert(bytes % 1024 == 0);
  onThreads(threads, [&](std::size_t i) {
    for (int time = 0; time < times; ++time)
      readStreams(memory + i * bytes, bytes);
  });
  return static_cast<double>(bytes) * times * threads;
}

} // namespace octavo::kernels
