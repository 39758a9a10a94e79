#include "Roofline.h"

#include "Measure.h"

#include "octavo/Kernels/Execution.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <tuple>

namespace octavo::benchmarks {

using Line = std::uint64_t __attribute__((vector_size(64)));
static constexpr std::size_t kAhead = 128; ///< lines

namespace {

struct Way {
  std::size_t streams;
  bool asksEarly;
};
constexpr Way kWays[] = {{1, false}, {1, true}, {4, false}, {4, true}};

/// For each step of 64 * `reads` bytes read, 64 * `writes` written.
struct Traffic {
  const std::byte* from;
  std::size_t reads;
  std::byte* to;
  std::size_t writes;
};

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void moveSteps(const Traffic& traffic, std::size_t begin, std::size_t end, std::size_t streams,
               bool asksEarly) {
  const std::size_t length = (end - begin) / streams;
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t stream = 0; stream < streams; ++stream) {
      const std::size_t step = begin + stream * length + i;
      const Line* const from = reinterpret_cast<const Line*>(traffic.from) + step * traffic.reads;
      if (asksEarly)
        for (std::size_t line = 0; line < traffic.reads; ++line)
          __builtin_prefetch(from + line + kAhead);
      Line sum = {};
      for (std::size_t line = 0; line < traffic.reads; ++line)
        sum ^= from[line];
      Line* const to = reinterpret_cast<Line*>(traffic.to) + step * traffic.writes;
      for (std::size_t line = 0; line < traffic.writes; ++line)
        __builtin_nontemporal_store(sum, to + line);
      asm volatile("" : : "r"(sum[0]));
    }
}

void moveBy(Way way, const Traffic& traffic, std::size_t steps, int threads) {
  kernels::forRanges(steps, std::size_t{1} << 12, {.threads = threads},
                     [&](std::size_t begin, std::size_t end) {
                       moveSteps(traffic, begin, end, way.streams, way.asksEarly);
                     });
}

} // namespace

void moveMemory(const std::byte* from, std::size_t readBytes, std::byte* to, std::size_t writeBytes,
                int threads) {
  const std::size_t unit =
      readBytes && writeBytes ? std::min(readBytes, writeBytes) : std::max(readBytes, writeBytes);
  const Traffic traffic{from, readBytes / unit, to, writeBytes / unit};
  const std::size_t steps = unit / 64;
  static std::map<std::tuple<std::size_t, std::size_t, int>, Way> fastest;
  const auto [found, isNew] =
      fastest.try_emplace({traffic.reads, traffic.writes, threads}, kWays[0]);
  if (isNew) {
    double least[std::size(kWays)];
    std::ranges::fill(least, 1e9);
    for (int turn = 0; turn < 5; ++turn)
      for (std::size_t i = 0; i < std::size(kWays); ++i)
        least[i] = std::min(least[i],
                            seconds([&] { moveBy(kWays[i], traffic, steps, threads); }, threads));
    found->second = kWays[std::ranges::min_element(least) - least];
  }
  moveBy(found->second, traffic, steps, threads);
}

} // namespace octavo::benchmarks
