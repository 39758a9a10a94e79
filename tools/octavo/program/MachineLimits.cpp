#include "tools/octavo/program/MachineLimits.h"

#include "octavo/Base/ByteText.h"
#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/MachinePeak.h"
#include "octavo/Kernels/Product/PackedOperand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unistd.h>

namespace octavo::tools {

namespace {

using program::Explanation;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr int kTurns = 8;
constexpr double kMostSeconds = 0.03; ///< of all repetitions, if other programs run too

/// The best rate of a few repetitions: interference only makes a repetition slower.
template <typename Run> double rateOf(const Run& run) {
  double most = 0;
  const Clock::time_point first = Clock::now();
  for (int turn = 0; turn < kTurns && (turn == 0 || since(first) < kMostSeconds); ++turn) {
    const Clock::time_point begin = Clock::now();
    const double done = run();
    most = std::max(most, done / since(begin));
  }
  return most;
}

/// Bytes that a repetition reads from a cache.
constexpr double kBytesOfTurn = 16 << 20;
constexpr std::size_t kUnit = 4096;

struct Cache {
  const char* name;
  int size; ///< name for sysconf
  bool isShared;
};
constexpr Cache kCaches[] = {{"L1", _SC_LEVEL1_DCACHE_SIZE, false},
                             {"L2", _SC_LEVEL2_CACHE_SIZE, false},
                             {"L3", _SC_LEVEL3_CACHE_SIZE, true}};
/// Bytes. Virtual machines report the last cache of their whole host, so its size is capped.
constexpr long kMostOfLast = 32l << 20, kLeastOfMemory = 128l << 20;

std::vector<MachineLimits::Memory> measureMemory(int threads) {
  const auto count = static_cast<std::size_t>(threads);
  const long last = std::max(0l, ::sysconf(_SC_LEVEL3_CACHE_SIZE));
  const std::size_t part =
      static_cast<std::size_t>(std::clamp(4 * last, kLeastOfMemory, 4 * kLeastOfMemory)) / count /
      kUnit * kUnit;
  kernels::PackedBytes memory(part * count, kernels::PackedBytes::Fill::None);
  std::memset(memory.data(), 1, memory.size()); // maps the pages
  std::vector<MachineLimits::Memory> found;
  for (const Cache& cache : kCaches) {
    const long size = std::min(::sysconf(cache.size), kMostOfLast);
    const std::size_t own = static_cast<std::size_t>(std::max(0l, size)) / 2 /
                            (cache.isShared ? count : 1) / kUnit * kUnit;
    if (own == 0)
      continue; // the system does not report it
    const int times = std::max(2, static_cast<int>(kBytesOfTurn / static_cast<double>(own)));
    found.push_back(
        {cache.name, static_cast<double>(size) * (cache.isShared ? 1 : threads),
         rateOf([&] { return kernels::readMemory(memory.data(), own, times, threads); })});
  }
  found.push_back(
      {"memory", 0, rateOf([&] { return kernels::readMemory(memory.data(), part, 1, threads); })});
  return found;
}

std::string perSecond(double rate, std::string_view of) {
  return rate > 0 ? fmt::format("{:.0f} in {}", rate / 1e9, of) : fmt::format("{} not known", of);
}

} // namespace

MachineLimits measureLimits() {
  const Clock::time_point begin = Clock::now();
  MachineLimits limits{.threads = kernels::threadsOf({}), .memory = {}};
  const auto peak = [&](kernels::Peak of) {
    return rateOf([&] { return kernels::runPeak(of, limits.threads); });
  };
  limits.f32 = peak(kernels::Peak::F32);
  // Without instructions for bf16 dots, bf16 is multiplied as f32.
  limits.bf16 = std::max(limits.f32, peak(kernels::Peak::Bf16));
  limits.int8 = peak(kernels::Peak::Int8);
  limits.memory = measureMemory(limits.threads);
  limits.seconds = since(begin);
  return limits;
}

std::optional<Limit> limitOf(const Explanation::Step& step, bool isPart,
                             const MachineLimits& limits) {
  std::optional<Limit> limit;
  if (step.bytes > 0) {
    const auto holds = [&](const MachineLimits::Memory& memory) {
      return step.bytes <= memory.bytes || (isPart && memory.name == "L2");
    };
    const auto found = std::ranges::find_if(limits.memory, holds);
    const MachineLimits::Memory& memory =
        found == limits.memory.end() ? limits.memory.back() : *found;
    limit = {memory.name, step.bytes / memory.perSecond};
  }
  if (step.arithmetic > 0) {
    using program::Multiplied;
    const auto [what, perSecond] = step.multiplied == Multiplied::F32 ? std::pair("f32", limits.f32)
                                   : step.multiplied == Multiplied::Bf16
                                       ? std::pair("bf16", limits.bf16)
                                       : std::pair("int8", limits.int8);
    const double seconds = perSecond > 0 ? step.arithmetic / perSecond : 0;
    if (seconds > 0 && (!limit || seconds > limit->seconds))
      limit = {what, seconds};
  }
  return limit;
}

std::string text(const MachineLimits& limits) {
  std::vector<std::string> memory;
  for (const MachineLimits::Memory& each : limits.memory)
    memory.push_back(each.bytes > 0
                         ? fmt::format("{:.0f} from {} ({})", each.perSecond / 1e9, each.name,
                                       base::bytesText(static_cast<std::uint64_t>(each.bytes)))
                         : fmt::format("{:.0f} from {}", each.perSecond / 1e9, each.name));
  return fmt::format("limits     {} threads, Gop/s: {}, {}, {}; GB/s: {}; measured in {:.2f} s\n",
                     limits.threads, perSecond(limits.f32, "f32"), perSecond(limits.bf16, "bf16"),
                     perSecond(limits.int8, "int8"), fmt::join(memory, ", "), limits.seconds);
}

Json json(const MachineLimits& limits) {
  Json memory = Json::array();
  for (const MachineLimits::Memory& each : limits.memory)
    memory.push_back({{"name", each.name},
                      {"bytes", each.bytes > 0 ? Json(each.bytes) : Json(nullptr)},
                      {"GB/s", each.perSecond / 1e9}});
  const auto rate = [](double perSecond) {
    return perSecond > 0 ? Json(perSecond / 1e9) : Json(nullptr);
  };
  return {{"threads", limits.threads},
          {"Gop/s",
           {{"f32", rate(limits.f32)}, {"bf16", rate(limits.bf16)}, {"int8", rate(limits.int8)}}},
          {"memory", std::move(memory)},
          {"seconds", limits.seconds}};
}

} // namespace octavo::tools
