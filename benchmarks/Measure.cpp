#include "Measure.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <random>
#include <sys/mman.h>
#include <vector>

namespace octavo::benchmarks {

Buffer::Buffer(std::size_t size) : bytes(size) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  if (bytes >= kLargePage)
    bytes = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  data = std::aligned_alloc(bytes >= kLargePage ? kLargePage : 64, (bytes + 63) / 64 * 64);
  if (bytes >= kLargePage)
    madvise(data, bytes, MADV_HUGEPAGE);
  std::memset(data, 1, bytes);
}

Buffer::~Buffer() { std::free(data); }

void fillNormal(float* values, std::size_t n, float sigma) {
  std::mt19937 random(42);
  std::normal_distribution<float> normal(0.0f, sigma);
  constexpr std::size_t kPeriod = std::size_t{1} << 20;
  for (std::size_t i = 0; i < std::min(n, kPeriod); ++i)
    values[i] = normal(random);
  for (std::size_t i = kPeriod; i < n; i += kPeriod)
    std::memcpy(values + i, values, std::min(kPeriod, n - i) * sizeof(float));
}

using Line = std::uint64_t __attribute__((vector_size(64)));

/// For each step of 64 * `reads` bytes read, 64 * `writes` written.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void
moveLines(const std::byte* from, std::size_t reads, std::byte* to, std::size_t writes,
          std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    Line sum = {};
    for (std::size_t i = 0; i < reads; ++i)
      __builtin_prefetch(reinterpret_cast<const Line*>(from) + (step * reads + i) + 128);
    for (std::size_t i = 0; i < reads; ++i)
      sum ^= reinterpret_cast<const Line*>(from)[step * reads + i];
    for (std::size_t i = 0; i < writes; ++i)
      __builtin_nontemporal_store(sum, reinterpret_cast<Line*>(to) + step * writes + i);
    asm volatile("" : : "r"(sum[0]));
  }
}

void moveMemory(const std::byte* from, std::size_t readBytes, std::byte* to, std::size_t writeBytes,
                int threads) {
  const std::size_t least = std::min(readBytes, writeBytes);
  const std::size_t unit = least ? least : std::max(readBytes, writeBytes);
  const std::size_t reads = (readBytes + unit / 2) / unit;
  const std::size_t writes = (writeBytes + unit / 2) / unit;
  const std::size_t steps = unit / 64;
  kernels::forRanges(
      steps, std::size_t{1} << 12, {.threads = threads}, [&](std::size_t begin, std::size_t end) {
        moveLines(from + begin * reads * 64, reads, to + begin * writes * 64, writes, end - begin);
      });
}

/// Of one thread, the time that it ran: other programs on the machine do not count.
static double now(int threads) {
  timespec time;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

static double seconds(const std::function<void()>& run, int threads) {
  const double start = now(threads);
  run();
  return now(threads) - start;
}

static double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

void registerAgainstBound(const std::string& name, std::size_t elements, int threads,
                          std::function<void()> kernel, std::function<void()> bound) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 kernel(); // brings pages and code in
                                 bound();
                                 std::vector<double> kernelTimes, ratios;
                                 for (auto _ : state) {
                                   const double boundTime = seconds(bound, threads);
                                   const double kernelTime = seconds(kernel, threads);
                                   state.SetIterationTime(kernelTime);
                                   kernelTimes.push_back(kernelTime);
                                   ratios.push_back(boundTime / kernelTime);
                                 }
                                 state.counters["Gelt/s"] =
                                     static_cast<double>(elements) / median(kernelTimes) * 1e-9;
                                 state.counters["of_bound"] = median(ratios);
                                 state.counters["of_bound_min"] = std::ranges::min(ratios);
                                 state.counters["of_bound_max"] = std::ranges::max(ratios);
                               })
      ->UseManualTime()
      ->Iterations(11)
      ->Unit(benchmark::kMillisecond);
}

void registerInCache(const std::string& name, std::size_t elements, std::function<void()> kernel) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 constexpr int kCalls = 200;
                                 std::vector<double> times;
                                 auto calls = [&] {
                                   for (int i = 0; i < kCalls; ++i)
                                     kernel();
                                 };
                                 calls();
                                 for (auto _ : state) {
                                   times.push_back(seconds(calls, 1) / kCalls);
                                   state.SetIterationTime(times.back());
                                 }
                                 const auto n = static_cast<double>(elements);
                                 state.counters["Gelt/s"] = n / median(times) * 1e-9;
                                 state.counters["Gelt/s_max"] = n / std::ranges::min(times) * 1e-9;
                               })
      ->UseManualTime()
      ->Iterations(21)
      ->Unit(benchmark::kMicrosecond);
}

} // namespace octavo::benchmarks
