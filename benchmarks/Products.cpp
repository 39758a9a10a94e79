// Products of scaled matrices beside OpenBLAS's f32 product of the same shape and beside the peak
// that a probe reaches, all three in turn; those of few rows also beside 1024^3 of the same
// formats. Operands are packed beforehand but where the name says otherwise. Counters: Gop/s (2 M N
// K), medians; x_blas, of_bare_loop and of_large, medians of the ratios of each turn with the least
// and the greatest; must_*: what docs/benchmarks.md asks for.
#include "Measure.h"
#include "Roofline.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/MachinePeak.h"
#include "octavo/Kernels/Product/Product.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

extern "C" {
void cblas_sgemm(int order, int transA, int transB, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void cblas_sgemv(int order, int trans, int m, int n, float alpha, const float* a, int lda,
                 const float* x, int incx, float beta, float* y, int incy);
void openblas_set_num_threads(int threads);
}

using namespace octavo;
using kernels::Isa;
using kernels::OperandFormat;

namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

/// The bound of a product, measured by a probe.
enum class Peak { None, IntegerDots, IntegerWordDots, Bf16Dots, Memory };

/// Runs the operation of `peak` for about a millisecond; how many units (multiply-adds times 2, or
/// bytes) it did.
double probe(Peak peak, const benchmarks::Buffer& memory, std::size_t memoryBytes);

#if defined(__x86_64__)
constexpr int kChains = 14;
constexpr int kProbeSteps = 200000;

__attribute__((target("avx512f,avx512vnni"))) double probeWordDots() {
  __m512i sums[kChains], a = _mm512_set1_epi8(1), b = a;
  for (__m512i& sum : sums)
    sum = _mm512_setzero_si512();
  asm volatile("" : "+v"(a), "+v"(b));
  for (int i = 0; i < kProbeSteps; ++i)
    for (__m512i& sum : sums) {
      sum = _mm512_dpwssd_epi32(sum, a, b);
      asm volatile("" : "+v"(sum));
    }
  return 2.0 * 32 * kChains * kProbeSteps;
}
#endif

double probe(Peak peak, const benchmarks::Buffer& memory, std::size_t memoryBytes) {
  switch (peak) {
#if defined(__x86_64__)
  case Peak::IntegerWordDots:
    return probeWordDots();
#endif
  case Peak::IntegerDots:
    return kernels::runPeak(kernels::Peak::Int8, 1);
  case Peak::Bf16Dots:
    return kernels::runPeak(kernels::Peak::Bf16, 1);
  case Peak::Memory:
    benchmarks::moveMemory(memory.as<std::byte>(), memoryBytes, nullptr, 0, 1);
    return static_cast<double>(memoryBytes);
  default:
    return 0;
  }
}

/// What is timed beside the product.
enum class Timed { Nothing, PackingBoth, Quantizing };

struct Case {
  const char* left; ///< a scaled format, or f32
  const char* right;
  std::int64_t m, n, k;
  Timed timed = Timed::Nothing;
  Peak peak = Peak::None; ///< on AVX-512
  double mustBlasAvx2 = 0;
  double mustBlasAvx512 = 0;
  double mustPeakAvx512 = 0;
};

OperandFormat formatOf(std::string_view name) {
  return name == "f32" ? kernels::floatOperand()
                       : kernels::operandFormat(*format::findScaledFormat(name));
}

numerics::ScaledTensor draw(std::string_view name, std::int64_t rows, std::int64_t depth) {
  const format::ScaledFormat& format = *format::findScaledFormat(name);
  std::mt19937 random(42);
  numerics::ScaledTensor matrix{.shape = {rows, depth},
                                .type = {format.element, format.scale, {}, format.hasOuterScale},
                                .elements = std::vector<std::uint8_t>(rows * depth),
                                .scales = {}};
  matrix.type.block = format::blockShape(format, matrix.shape, 1);
  for (std::uint8_t& code : matrix.elements) {
    code = static_cast<std::uint8_t>(random()) & format.element->codeMask();
    if (format.element->isNan(code) || format.element->isInf(code))
      code = 0;
  }
  const auto grid = format::scaleShape(matrix.shape, matrix.type.block);
  const auto one = static_cast<std::uint32_t>(numerics::encode(*format.scale, 1.0));
  matrix.scales.resize(grid[0] * grid[1]);
  for (std::uint32_t& scale : matrix.scales)
    scale = one + (format.scale->width() == 8 ? random() % 8 : 0);
  return matrix;
}

/// Waits until this process takes no processor time: OpenBLAS's threads keep spinning after a
/// product, on the cores that octavo's product needs next.
void letSpinningThreadsSleep() {
  constexpr std::chrono::milliseconds kNap(20);
  const auto processTime = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  constexpr double kIdle = 0.001;
  for (double before = -1, now = processTime(); now - before > kIdle; now = processTime()) {
    before = now;
    std::this_thread::sleep_for(kNap);
  }
}

void measure(benchmark::State& state, const Case& each, Isa isa, int threads,
             const benchmarks::Buffer& memory, std::size_t memoryBytes) {
  const kernels::Execution execution{.isa = isa, .threads = threads};
  const auto plan =
      kernels::productPlan(formatOf(each.left), formatOf(each.right), each.k, isa).value();
  const bool floats = plan.left.scale == nullptr;
  const numerics::ScaledTensor b = draw(each.right, each.n, each.k);
  const numerics::ScaledTensor a =
      floats ? numerics::ScaledTensor{} : draw(each.left, each.m, each.k);
  std::vector<float> x(each.m * each.k), y(each.n * each.k), c(each.m * each.n), reference(c);
  benchmarks::fillNormal(x.data(), x.size(), 1.0f);
  benchmarks::fillNormal(y.data(), y.size(), 1.0f);
  kernels::PackedOperand left{};
  auto packLeft = [&] {
    left = floats ? pack(x, plan, execution, std::move(left))
                  : pack(a, kernels::Side::Left, plan, execution, std::move(left));
  };
  packLeft();
  kernels::PackedOperand right = pack(b, kernels::Side::Right, plan, execution);
  openblas_set_num_threads(threads);
  auto blas = [&] {
    const auto m = static_cast<int>(each.m), n = static_cast<int>(each.n),
               k = static_cast<int>(each.k);
    if (m == 1)
      cblas_sgemv(kRowMajor, kNoTrans, n, k, 1, y.data(), k, x.data(), 1, 0, reference.data(), 1);
    else
      cblas_sgemm(kRowMajor, kNoTrans, kTrans, m, n, k, 1, x.data(), k, y.data(), k, 0,
                  reference.data(), n);
  };
  auto product = [&] {
    if (each.timed == Timed::Quantizing)
      left = quantizeAndPack(x, plan, {}, execution, std::move(left)).value();
    if (each.timed == Timed::PackingBoth) {
      packLeft();
      right = pack(b, kernels::Side::Right, plan, execution, std::move(right));
    }
    multiply(plan, left, right, c, execution);
  };
  const double work =
      2.0 * static_cast<double>(each.m) * static_cast<double>(each.n) * static_cast<double>(each.k);
  const Peak peak = isa == Isa::Avx512 || each.peak == Peak::Memory ? each.peak : Peak::None;
  const double units = peak == Peak::Memory ? static_cast<double>(right.bytes()) : work;
  // The product that small and odd shapes are compared with.
  const bool isSmall = each.m <= 64 && peak != Peak::Memory && !floats;
  constexpr std::int64_t kLarge = 1024;
  kernels::PackedOperand largeLeft{}, largeRight{};
  std::vector<float> largeC;
  const auto largePlan =
      kernels::productPlan(formatOf(each.left), formatOf(each.right), kLarge, isa).value();
  if (isSmall) {
    largeLeft = pack(draw(each.left, kLarge, kLarge), kernels::Side::Left, largePlan, execution);
    largeRight = pack(draw(each.right, kLarge, kLarge), kernels::Side::Right, largePlan, execution);
    largeC.resize(kLarge * kLarge);
  }
  auto large = [&] { multiply(largePlan, largeLeft, largeRight, largeC, execution); };
  // In a single short call, the clock and cold caches would take a large part of the time.
  const int calls = isSmall ? static_cast<int>(std::clamp(4e8 / work, 1.0, 100.0)) : 1;
  auto repeated = [calls](const auto& run) {
    return [calls, &run] {
      for (int i = 0; i < calls; ++i)
        run();
    };
  };
  blas();
  product();
  benchmarks::Samples rate, blasRate, overBlas, ofPeak, peakRate, ofLarge;
  for (auto _ : state) {
    const double blasTime = benchmarks::seconds(repeated(blas), threads) / calls;
    if (threads > 1)
      letSpinningThreadsSleep();
    const double time = benchmarks::seconds(repeated(product), threads) / calls;
    state.SetIterationTime(time);
    rate.add(work / time * 1e-9);
    blasRate.add(work / blasTime * 1e-9);
    overBlas.add(blasTime / time);
    if (isSmall && threads == 1) {
      constexpr double kLargeWork = 2.0 * kLarge * kLarge * kLarge;
      ofLarge.add(work / time / (kLargeWork / benchmarks::seconds(large, threads)));
    }
    if (peak == Peak::None || threads != 1)
      continue;
    double done = 0;
    const double probeTime =
        benchmarks::seconds([&] { done = probe(peak, memory, memoryBytes); }, 1);
    peakRate.add(done / probeTime * 1e-9);
    ofPeak.add(units / time / (done / probeTime));
  }
  state.counters["Gop/s"] = rate.median();
  state.counters["blas_Gop/s"] = blasRate.median();
  overBlas.report(state, "x_blas");
  if (!ofPeak.empty()) {
    ofPeak.report(state, "of_bare_loop");
    state.counters[peak == Peak::Memory ? "peak_GB/s" : "peak_Gop/s"] = peakRate.median();
  }
  if (!ofLarge.empty()) {
    ofLarge.report(state, "of_large");
    state.counters["must_of_large"] = 0.8;
  }
  const double mustBlas = isa == Isa::Avx512 ? each.mustBlasAvx512
                          : isa == Isa::Avx2 ? each.mustBlasAvx2
                                             : 0;
  if (mustBlas > 0)
    state.counters["must_x_blas"] = mustBlas;
  if (isa == Isa::Avx512 && each.mustPeakAvx512 > 0)
    state.counters["must_of_bare_loop"] = each.mustPeakAvx512;
}

// clang-format off
constexpr Case kCases[] = {
    // left         right         m     n      k     both   peak                 AVX2  AVX-512: blas, peak
    {"mxfp4",      "mxfp4",      1024, 1024,  1024, Timed::Nothing,     Peak::IntegerDots,     2.0,  3.3, 0.8},
    {"mxfp4",      "mxfp4",      4096, 4096,  4096, Timed::Nothing,     Peak::IntegerDots,     2.0,  3.3, 0.8},
    {"mxfp4",      "mxfp4",      1024, 1024,  1024, Timed::Quantizing,  Peak::IntegerDots,     1.7,  3.3, 0.8},
    {"mxfp4",      "mxfp4",      4096, 4096,  4096, Timed::Quantizing,  Peak::IntegerDots,     1.7,  3.3, 0.8},
    {"mxint8",     "mxfp4",      1024, 1024,  1024, Timed::Quantizing,  Peak::IntegerDots,     1.7,  3.3, 0.8},
    {"mxfp4",      "mxfp4",        64,  384,   384, Timed::Nothing,     Peak::IntegerDots,     1.6,  2.6, 0.64},
    {"mxfp4",      "mxfp4",        61, 1023,  1025, Timed::Nothing,     Peak::IntegerDots,     1.6,  2.6, 0.64},
    {"mxint8",     "mxint8",       64,  384,   384, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0.64},
    {"nvfp4",      "nvfp4",        64,  384,   384, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"mxfp8_e4m3", "mxfp8_e4m3",   64,  384,   384, Timed::Nothing,     Peak::Bf16Dots,        0,    0,   0.68},
    {"mxfp8_e4m3", "mxfp8_e4m3",   61, 1023,  1025, Timed::Nothing,     Peak::Bf16Dots,        0,    0,   0.68},
    {"mxfp8_e4m3", "mxfp8_e4m3",    7, 1023,  1025, Timed::Nothing,     Peak::Bf16Dots,        0,    0,   0.68},
    {"mxfp4",      "mxfp4",         2, 1023,  1025, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"mxfp4",      "mxfp4",         4, 1023,  1025, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"mxfp4",      "mxfp4",         8, 1023,  1025, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"nvfp4",      "nvfp4",         8, 1023,  1025, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"mxint8",     "mxint8",        4, 1023,  1025, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"mxfp8_e4m3", "mxfp8_e4m3",    2, 1023,  1025, Timed::Nothing,     Peak::Bf16Dots,        0,    0,   0},
    {"mxfp8_e4m3", "mxfp8_e4m3",    4, 1023,  1025, Timed::Nothing,     Peak::Bf16Dots,        0,    0,   0},
    {"mxfp6_e2m3", "mxfp6_e2m3", 1024, 1024,  1024, Timed::Nothing,     Peak::IntegerDots,     1.5,  0,   0.8},
    {"mxint8",     "mxint8",     1024, 1024,  1024, Timed::Nothing,     Peak::IntegerDots,     1.2,  0,   0.8},
    {"mxfp6_e3m2", "mxfp6_e3m2", 1024, 1024,  1024, Timed::Nothing,     Peak::IntegerWordDots, 1.2,  0,   0.8},
    {"nvfp4",      "nvfp4",      1024, 1024,  1024, Timed::Nothing,     Peak::IntegerDots,     0,    0,   0},
    {"mxfp8_e4m3", "mxfp8_e4m3", 1024, 1024,  1024, Timed::PackingBoth,  Peak::Bf16Dots,        0.95, 1.9, 0.85},
    {"mxfp8_e4m3", "mxfp8_e4m3", 2048, 2048,  2048, Timed::PackingBoth,  Peak::Bf16Dots,        0.95, 1.9, 0.85},
    {"fp8_tensor", "fp8_tensor", 1024, 1024,  1024, Timed::PackingBoth,  Peak::Bf16Dots,        0.95, 1.9, 0.85},
    {"fp8_group",  "fp8_block",  1024, 1024,  1024, Timed::PackingBoth,  Peak::Bf16Dots,        0.95, 1.9, 0.85},
    {"f32",        "mxfp4",      1024, 1024,  1024, Timed::Nothing,     Peak::None,            0,    0,   0},
    {"f32",        "mxint8",     1024, 1024,  1024, Timed::Nothing,     Peak::None,            0,    0,   0},
    {"f32",        "mxfp8_e4m3", 1024, 1024,  1024, Timed::Nothing,     Peak::None,            0,    0,   0},
    {"mxint8",     "mxfp4",         1, 8192,  8192, Timed::Nothing,     Peak::Memory,          5,    0,   0.95},
    {"f32",        "mxfp4",         1, 8192,  8192, Timed::Nothing,     Peak::Memory,          4.3,  0,   0.8},
    {"mxint8",     "mxfp4",         1, 28672, 4096, Timed::Nothing,     Peak::Memory,          5,    0,   0.95},
    {"f32",        "mxfp4",         1, 28672, 4096, Timed::Nothing,     Peak::Memory,          4.3,  0,   0.8},
    {"mxint8",     "nvfp4",         1, 8192,  8192, Timed::Nothing,     Peak::Memory,          4,    0,   0.9},
    {"f32",        "nvfp4",         1, 8192,  8192, Timed::Nothing,     Peak::Memory,          4,    0,   0.9},
    {"mxfp8_e4m3", "mxfp8_e4m3",    1, 8192,  8192, Timed::Nothing,     Peak::Memory,          2,    0,   0.9},
};
// clang-format on

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr std::size_t kMemory = std::size_t{128} << 20;
  const benchmarks::Buffer memory(kMemory);
  for (Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Portable}) {
    if (auto why = kernels::whyNot(isa)) {
      fmt::print("not run: {}\n", *why);
      continue;
    }
    for (const Case& each : kCases)
      for (int threads : {1, 2}) {
        const double work = 2e-9 * static_cast<double>(each.m * each.n) * each.k;
        if (isa == Isa::Portable && (threads > 1 || work > 3))
          continue;
        benchmark::RegisterBenchmark(fmt::format("product/{}*{}/{}/{}x{}x{}{}/{}T", each.left,
                                                 each.right, kernels::isaName(isa), each.m, each.n,
                                                 each.k,
                                                 each.timed == Timed::PackingBoth  ? "/packing"
                                                 : each.timed == Timed::Quantizing ? "/quantizing"
                                                                                   : "",
                                                 threads)
                                         .c_str(),
                                     [&each, isa, threads, &memory](benchmark::State& state) {
                                       measure(state, each, isa, threads, memory, kMemory);
                                     })
            ->UseManualTime()
            ->Iterations(work > 20 ? 3 : 15)
            ->Unit(benchmark::kMillisecond);
      }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
