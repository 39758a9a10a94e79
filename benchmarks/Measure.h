// What the benchmarks share: buffers, a probe of the machine's memory, and the interleaved
// measurement of a kernel against it.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <benchmark/benchmark.h>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace octavo::benchmarks {

/// Memory that has been written once, on large pages where the system gives them.
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

/// Reads `readBytes` and writes `writeBytes` in equal steps, around the caches, doing nothing else:
/// what a kernel of that traffic is bound by. `threads` as in kernels::Execution.
void moveMemory(const std::byte* from, std::size_t readBytes, std::byte* to, std::size_t writeBytes,
                int threads);

/// Registers `name`: `kernel` and `bound` run in turn, and the counters say how many elements a
/// second the kernel does (median), and the ratio of its speed to the bound's: median, least and
/// greatest of the pairs. One thread is timed by its own clock, more by the wall's.
void registerAgainstBound(const std::string& name, std::size_t elements, int threads,
                          std::function<void()> kernel, std::function<void()> bound);

/// Registers `name`, which works in the caches: elements a second, median of many runs.
void registerInCache(const std::string& name, std::size_t elements, std::function<void()> kernel);

} // namespace octavo::benchmarks
