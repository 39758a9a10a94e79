// The bounds of all other benchmarks: peaks of memory and of instructions. scripts/bench runs this
// before, between and after the others.
#include "Measure.h"
#include "Roofline.h"

#include "octavo/Kernels/MachinePeak.h"

#include <fmt/format.h>

using namespace octavo;
using benchmarks::Buffer;

namespace {

/// Shares of a buffer of 256 MiB that are read and of another that are written, in quarters.
struct Traffic {
  const char* name;
  std::size_t reads, writes;
};
constexpr Traffic kTraffic[] = {
    {"read", 4, 0}, {"write", 0, 4}, {"copy", 4, 4}, {"4R:1W", 4, 1}, {"1R:4W", 1, 4}};
constexpr std::size_t kQuarter = std::size_t{64} << 20;

struct Instruction {
  const char* name;
  kernels::Peak peak;
};
constexpr Instruction kInstructions[] = {{"f32 multiply-adds", kernels::Peak::F32},
                                         {"bf16 dots", kernels::Peak::Bf16},
                                         {"int8 dots", kernels::Peak::Int8}};

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const Buffer from(4 * kQuarter), to(4 * kQuarter);
  for (int threads : {1, 2}) {
    for (const Traffic& traffic : kTraffic)
      benchmarks::registerMeasurement(
          {.name = fmt::format("memory/{}/machine/{} MiB/{}T", traffic.name,
                               (traffic.reads + traffic.writes) * kQuarter >> 20, threads),
           .work = static_cast<double>((traffic.reads + traffic.writes) * kQuarter),
           .unit = "GB/s",
           .threads = threads,
           .kernel = [&, traffic, threads] {
             benchmarks::moveMemory(from.as<std::byte>(), traffic.reads * kQuarter,
                                    to.as<std::byte>(), traffic.writes * kQuarter, threads);
           }});
    for (const Instruction& each : kInstructions)
      if (const double done = kernels::runPeak(each.peak, threads); done > 0)
        benchmarks::registerMeasurement(
            {.name = fmt::format("loop/{}/machine/registers/{}T", each.name, threads),
             .work = done,
             .unit = "Gop/s",
             .threads = threads,
             .kernel = [=] { kernels::runPeak(each.peak, threads); }});
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
