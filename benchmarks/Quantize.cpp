// Quantization and dequantization of scaled formats: in the caches, and for 64 Mi elements against
// the memory traffic that they cannot avoid.
#include "Measure.h"
#include "Roofline.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Kernels/QuantizeBothAxes.h"

#include <fmt/format.h>

using namespace octavo;
using benchmarks::Buffer;
using kernels::Isa;

namespace {

struct Tensors {
  explicit Tensors(std::size_t n)
      : values(n * sizeof(float)), codes(n), scales(n / 16 * sizeof(float)),
        decoded(n * sizeof(float)) {
    benchmarks::fillNormal(values.as<float>(), n, 1.0f);
  }
  Buffer values, codes, scales;
  Buffer decoded; ///< what bounds write goes here too: codes stay those of the values
};

/// A square-ish tensor of a scaled format, blocked along `axis`.
struct Case {
  const format::ScaledFormat* format;
  std::vector<std::int64_t> shape;
  int axis;
  Isa isa;
  int threads;

  std::size_t elements() const { return static_cast<std::size_t>(shape[0] * shape[1]); }
  numerics::ScaledType type() const {
    return {format->element, format->scale, format::blockShape(*format, shape, axis),
            format->hasOuterScale};
  }
  std::string name(const char* operation) const {
    return fmt::format("{}/{} {}/{}/{}x{}/{}T", operation, format->name,
                       axis == 1 ? "last axis" : "first axis", kernels::isaName(isa), shape[0],
                       shape[1], threads);
  }
  void quantize(const Tensors& tensors) const {
    kernels::quantize(tensors.values.as<float>(), shape, type(), {.rule = format->rule},
                      tensors.codes.as<std::uint8_t>(), tensors.scales.as<void>(), {},
                      {.isa = isa, .threads = threads});
  }
  void dequantize(const Tensors& tensors) const {
    kernels::dequantize(tensors.codes.as<std::uint8_t>(), tensors.scales.as<void>(), 1.0f, shape,
                        type(), tensors.decoded.as<float>(), {.isa = isa, .threads = threads});
  }
};

} // namespace

/// The targets in the table of docs/benchmarks.md.
struct Targets {
  double rate = 0;       ///< Gelt/s in the caches
  double ofMemory = 0;   ///< along the last axis
  double ofLastAxis = 0; ///< along the first
};
static Targets quantizeTargets(const Case& each) {
  const std::string_view name = each.format->name;
  if (name != "mxfp8_e4m3" && name != "mxfp4" && name != "nvfp4")
    return {};
  if (each.axis == 0)
    return {.ofLastAxis = 0.7};
  return {.rate = each.isa == Isa::Avx2 ? 4.0 : 0, .ofMemory = 0.85};
}
static double dequantizeTarget(const Case& each) {
  if (std::string_view(each.format->name) != "mxfp4" || each.axis != 1)
    return 0;
  return each.isa == Isa::Avx512 ? 0.9 : 0.85;
}

static void registerCase(const Case& each, const std::shared_ptr<Tensors>& tensors, bool inCache) {
  const std::size_t n = each.elements();
  const Targets targets = quantizeTargets(each);
  Case lastAxis = each;
  lastAxis.axis = 1;
  benchmarks::Measurement quantize{.name = each.name("quantize"),
                                   .work = static_cast<double>(n),
                                   .threads = each.threads,
                                   .kernel = [=] { each.quantize(*tensors); }};
  benchmarks::Measurement dequantize{.name = each.name("dequantize"),
                                     .work = static_cast<double>(n),
                                     .threads = each.threads,
                                     .kernel = [=] { each.dequantize(*tensors); }};
  if (each.axis == 0)
    quantize.beside.push_back({.ratio = "of_last_axis",
                               .run = [=] { lastAxis.quantize(*tensors); },
                               .must = targets.ofLastAxis});
  if (inCache) {
    quantize.callsInTiming = dequantize.callsInTiming = benchmarks::kCallsInCache;
    quantize.mustRate = targets.rate;
  } else {
    auto* values = tensors->values.as<std::byte>();
    auto* codes = tensors->codes.as<std::byte>();
    auto* decoded = tensors->decoded.as<std::byte>();
    // A scale of the whole tensor is known only after all of it has been read once.
    const bool readsTwice = each.format->hasOuterScale || each.format->across == format::kWholeAxis;
    quantize.beside.push_back(
        {.ratio = "of_copy_loop",
         .run =
             [=] {
               if (readsTwice)
                 benchmarks::moveMemory(values, n * sizeof(float), nullptr, 0, each.threads);
               benchmarks::moveMemory(values, n * sizeof(float), decoded, n, each.threads);
             },
         .must = targets.ofMemory});
    dequantize.beside.push_back(
        {.ratio = "of_copy_loop",
         .run = [=] { benchmarks::moveMemory(codes, n, decoded, n * sizeof(float), each.threads); },
         .must = dequantizeTarget(each)});
  }
  benchmarks::registerMeasurement(quantize);
  benchmarks::registerMeasurement(dequantize);
}

/// Both copies of a tensor in one reading, the second one transposed, beside the two calls that
/// make them untransposed and beside the memory traffic of the one reading.
static void registerBothAxes(const format::ScaledFormat& format, Isa isa, int threads,
                             const std::shared_ptr<Tensors>& tensors,
                             const std::shared_ptr<Tensors>& transposed) {
  const Case rowwise{&format, {8192, 8192}, 1, isa, threads};
  Case columnwise = rowwise;
  columnwise.axis = 0;
  const std::size_t n = rowwise.elements();
  auto* values = tensors->values.as<std::byte>();
  auto* decoded = tensors->decoded.as<std::byte>();
  benchmarks::registerMeasurement(
      {.name = fmt::format("quantize/{} both axes, one transposed/{}/8192x8192/{}T", format.name,
                           kernels::isaName(isa), threads),
       .work = static_cast<double>(n),
       .threads = threads,
       .kernel =
           [=] {
             kernels::quantizeBothAxes(
                 tensors->values.as<float>(), rowwise.shape, {.rule = rowwise.format->rule},
                 {rowwise.type(), tensors->codes.as<std::uint8_t>(), tensors->scales.as<void>()},
                 {columnwise.type(), transposed->codes.as<std::uint8_t>(),
                  transposed->scales.as<void>()},
                 kernels::Layout::Transposed, {.isa = isa, .threads = threads});
           },
       .beside = {{.ratio = "of_two_calls",
                   .run =
                       [=] {
                         rowwise.quantize(*tensors);
                         columnwise.quantize(*transposed);
                       }},
                  {.ratio = "of_copy_loop", .run = [=] {
                     benchmarks::moveMemory(values, n * sizeof(float), decoded, 2 * n, threads);
                   }}}});
}

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  auto tensors = std::make_shared<Tensors>(std::size_t{64} << 20);
  auto transposed = std::make_shared<Tensors>(std::size_t{64} << 20);
  for (Isa isa : kernels::builtIsas()) {
    if (auto why = kernels::whyNot(isa)) {
      fmt::print("not run: {}\n", *why);
      continue;
    }
    for (const char* name : {"mxfp8_e4m3", "mxfp4", "nvfp4", "mxint8", "fp8_block", "fp8_tensor"}) {
      const format::ScaledFormat* format = format::findScaledFormat(name);
      for (int axis : {1, 0}) {
        registerCase({format, {128, 128}, axis, isa, 1}, tensors, true);
        for (int threads : {1, 2})
          registerCase({format, {8192, 8192}, axis, isa, threads}, tensors, false);
      }
    }
    for (const char* name : {"mxfp8_e4m3", "nvfp4"})
      for (int threads : {1, 2})
        registerBothAxes(*format::findScaledFormat(name), isa, threads, tensors, transposed);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
