#include "Measure.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
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

/// For one thread, its CPU time: other programs on the machine do not count.
static double now(int threads) {
  timespec time;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds(const std::function<void()>& run, int threads) {
  const double start = now(threads);
  run();
  return now(threads) - start;
}

double Samples::median() const {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

void Samples::report(benchmark::State& state, const std::string& name) const {
  const auto [least, greatest] = std::ranges::minmax(values);
  state.counters[name] = median();
  state.counters[name + "_min"] = least;
  state.counters[name + "_max"] = greatest;
}

static void measure(benchmark::State& state, const Measurement& measurement) {
  auto timed = [&](const std::function<void()>& run) {
    auto calls = [&] {
      for (int i = 0; i < measurement.callsInTiming; ++i)
        run();
    };
    return seconds(calls, measurement.threads) / measurement.callsInTiming;
  };
  Samples rate;
  std::vector<Samples> ratios(measurement.beside.size());
  timed(measurement.kernel); // brings pages and code in
  for (const Beside& each : measurement.beside)
    timed(each.run);
  for (auto _ : state) {
    const double time = timed(measurement.kernel);
    state.SetIterationTime(time);
    rate.add(measurement.work / time * 1e-9);
    for (std::size_t i = 0; i < ratios.size(); ++i)
      ratios[i].add(timed(measurement.beside[i].run) / time);
  }
  rate.report(state, std::string(measurement.unit));
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i].report(state, measurement.beside[i].ratio);
  if (measurement.mustRate > 0)
    state.counters[fmt::format("must_{}", measurement.unit)] = measurement.mustRate;
  for (const Beside& each : measurement.beside)
    if (each.must > 0)
      state.counters["must_" + each.ratio] = each.must;
}

void registerMeasurement(Measurement measurement) {
  const std::string name = measurement.name;
  const bool isInCache = measurement.callsInTiming > 1;
  benchmark::RegisterBenchmark(name.c_str(),
                               [measurement = std::move(measurement)](benchmark::State& state) {
                                 measure(state, measurement);
                               })
      ->UseManualTime()
      ->Iterations(isInCache ? 21 : 11)
      ->Unit(isInCache ? benchmark::kMicrosecond : benchmark::kMillisecond);
}

} // namespace octavo::benchmarks
