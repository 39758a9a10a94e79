// What the benchmarks share: buffers, and the interleaved measurement of a kernel beside what
// bounds it and beside its peers. Every benchmark is named
// operation/what/set/size[/more]/<threads>T and leaves counters that scripts/bench makes its table
// of:
//   Gelt/s, Gop/s, GB/s             what the kernel does; with _min and _max where it has no other
//   of_<bound>, x_<peer>            ratio of its speed to the other's in the same turn: median, and
//                                   the least and greatest under ..._min and ..._max
//   must_<one of these>             the target of docs/benchmarks.md
#pragma once

#include "octavo/Kernels/Execution.h"

#include <benchmark/benchmark.h>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::benchmarks {

/// Memory that was written once, on large pages if the system grants them.
class Buffer {
public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  template <typename T> T* as() const { return static_cast<T*>(data); }

private:
  void* data;
  std::size_t bytes;
};

/// f32 values of a normal distribution with standard deviation `sigma`, the same in every run.
void fillNormal(float* values, std::size_t n, float sigma);

/// A bound or a peer that is timed in turn with a kernel.
struct Beside {
  std::string ratio; ///< the counter: of_copy_loop, of_last_axis, ...
  std::function<void()> run;
  double must = 0; ///< target of the ratio; 0: none
};

/// Calls per timing for work in the caches.
inline constexpr int kCallsInCache = 200;

struct Measurement {
  std::string name;
  double work;                      ///< elements, operations or bytes of one call
  std::string_view unit = "Gelt/s"; ///< of the work, in billions a second: the counter
  int threads = 1;
  std::function<void()> kernel;
  std::vector<Beside> beside = {};
  double mustRate = 0;   ///< target in `unit`; 0: none
  int callsInTiming = 1; ///< kCallsInCache for work that takes microseconds
};

/// Registers a benchmark: the kernel and its bounds and peers run in turn, eleven times (21 in the
/// caches). One thread is timed by its CPU clock, so that other programs do not count; several
/// threads are timed by the wall clock.
void registerMeasurement(Measurement measurement);

/// The seconds of `run`, by the clock for `threads` threads.
double seconds(const std::function<void()>& run, int threads);

/// The results of the turns of a benchmark.
class Samples {
public:
  void add(double value) { values.push_back(value); }
  bool empty() const { return values.empty(); }
  double median() const;
  /// Counters: the median under `name`, the least and the greatest under ..._min and ..._max.
  void report(benchmark::State& state, const std::string& name) const;

private:
  std::vector<double> values;
};

} // namespace octavo::benchmarks
