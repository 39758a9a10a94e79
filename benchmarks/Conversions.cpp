// Conversions between f32 and the narrow formats: in the caches, and for 64 Mi elements against the
// memory traffic that they cannot avoid.
#include "Measure.h"

#include "octavo/Kernels/Convert.h"

#include <fmt/format.h>

using namespace octavo;
using benchmarks::Buffer;
using kernels::Execution;
using kernels::Isa;
using kernels::WideType;

static constexpr std::size_t kInCache = 16384; // 64 KiB of f32: the second level
static constexpr std::size_t kLarge = std::size_t{64} << 20;

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  auto values = std::make_shared<Buffer>(kLarge * sizeof(float));
  auto codes = std::make_shared<Buffer>(kLarge);
  auto decoded = std::make_shared<Buffer>(kLarge * sizeof(float));
  benchmarks::fillNormal(values->as<float>(), kLarge, 1.0f);

  for (Isa isa : kernels::builtIsas()) {
    if (auto why = kernels::whyNot(isa)) {
      fmt::print("not run: {}\n", *why);
      continue;
    }
    for (const char* name : {"e4m3fn", "e5m2", "e2m1fn"}) {
      const format::ElementFormat& format = *format::findElementFormat(name);
      auto convert = [=, &format](std::size_t n, int threads) {
        kernels::convert(format, {}, WideType::F32, values->as<float>(), codes->as<std::uint8_t>(),
                         n, {}, {.isa = isa, .threads = threads});
      };
      auto decode = [=, &format](std::size_t n, int threads) {
        kernels::decode(format, codes->as<std::uint8_t>(), WideType::F32, decoded->as<float>(), n,
                        {.isa = isa, .threads = threads});
      };
      const std::string suffix = fmt::format("{}/{}", name, kernels::isaName(isa));
      benchmarks::registerInCache("convert/f32_to_" + suffix + "/in_cache", kInCache,
                                  [=] { convert(kInCache, 1); });
      benchmarks::registerInCache("decode/" + suffix + "_to_f32/in_cache", kInCache,
                                  [=] { decode(kInCache, 1); });
      for (int threads : {1, 2}) {
        benchmarks::registerAgainstBound(
            fmt::format("convert/f32_to_{}/64Mi/{}T", suffix, threads), kLarge, threads,
            [=] { convert(kLarge, threads); },
            [=] {
              benchmarks::moveMemory(values->as<std::byte>(), kLarge * sizeof(float),
                                     codes->as<std::byte>(), kLarge, threads);
            });
        benchmarks::registerAgainstBound(
            fmt::format("decode/{}_to_f32/64Mi/{}T", suffix, threads), kLarge, threads,
            [=] { decode(kLarge, threads); },
            [=] {
              benchmarks::moveMemory(codes->as<std::byte>(), kLarge, decoded->as<std::byte>(),
                                     kLarge * sizeof(float), threads);
            });
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
