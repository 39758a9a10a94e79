// Conversions between f32 and the narrow formats: in the caches, and for 64 Mi elements against the
// memory traffic that they cannot avoid.
#include "Measure.h"
#include "Roofline.h"

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
  auto decoded = std::make_shared<Buffer>(kLarge * sizeof(float)); // the bounds write here too
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
      auto nameOf = [&](std::string_view operation, std::string_view size, int threads) {
        const bool isDecode = operation == "decode";
        return fmt::format("{}/{} -> {}/{}/{}/{}T", operation, isDecode ? name : "f32",
                           isDecode ? "f32" : name, kernels::isaName(isa), size, threads);
      };
      const bool hasTarget = isa == Isa::Avx2;
      const bool isByte = format.width() == 8;
      benchmarks::registerMeasurement({.name = nameOf("convert", "16 Ki in cache", 1),
                                       .work = kInCache,
                                       .kernel = [=] { convert(kInCache, 1); },
                                       .mustRate = hasTarget ? 6.0 : 0,
                                       .callsInTiming = benchmarks::kCallsInCache});
      benchmarks::registerMeasurement({.name = nameOf("decode", "16 Ki in cache", 1),
                                       .work = kInCache,
                                       .kernel = [=] { decode(kInCache, 1); },
                                       .mustRate = hasTarget && isByte ? 10.0 : 0,
                                       .callsInTiming = benchmarks::kCallsInCache});
      for (int threads : {1, 2}) {
        benchmarks::registerMeasurement(
            {.name = nameOf("convert", "64 Mi", threads),
             .work = kLarge,
             .threads = threads,
             .kernel = [=] { convert(kLarge, threads); },
             .beside = {{.ratio = "of_copy_loop",
                         .run =
                             [=] {
                               benchmarks::moveMemory(values->as<std::byte>(),
                                                      kLarge * sizeof(float),
                                                      decoded->as<std::byte>(), kLarge, threads);
                             },
                         .must = 0.9}}});
        benchmarks::registerMeasurement(
            {.name = nameOf("decode", "64 Mi", threads),
             .work = kLarge,
             .threads = threads,
             .kernel = [=] { decode(kLarge, threads); },
             .beside = {{.ratio = "of_copy_loop",
                         .run =
                             [=] {
                               benchmarks::moveMemory(codes->as<std::byte>(), kLarge,
                                                      decoded->as<std::byte>(),
                                                      kLarge * sizeof(float), threads);
                             },
                         .must = isByte ? (isa == Isa::Avx512 ? 0.95 : 0.9) : 0}}});
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
