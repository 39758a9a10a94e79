// Products of plain f32 and bf16 beside OpenBLAS's f32 product of the same shape and beside
// multiply-adds of f32 in registers, all three in turn, on one thread. The right operand
// is packed beforehand. Counters as in Products.cpp.
#include "Measure.h"

#include "octavo/Kernels/MachinePeak.h"
#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Widen.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

extern "C" {
void cblas_sgemm(int order, int transA, int transB, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void openblas_set_num_threads(int threads);
}

using namespace octavo;
using kernels::Isa;

namespace {

constexpr int kRowMajor = 101, kNoTrans = 111;
constexpr double kMustOfPeak = 0.95;
/// Applies from 16 rows on: with fewer rows, reading the right operand is the limit.
constexpr int kLeastRowsOfTarget = 16;

struct Shape {
  int m, n, k;
};
constexpr Shape kShapes[] = {{1024, 384, 384},   {1024, 1536, 384}, {1024, 384, 1536},
                             {1024, 1024, 1024}, {128, 1536, 384},  {16, 1536, 384},
                             {1, 1536, 384}};

void narrowTo(const std::vector<float>& values, std::vector<float>& to) { to = values; }
void narrowTo(const std::vector<float>& values, std::vector<std::uint16_t>& to) {
  to.resize(values.size());
  kernels::narrow(kernels::WideType::Bf16, values.data(), to.data(), values.size());
}

template <typename T> void measure(benchmark::State& state, const Shape& shape, Isa isa) {
  const kernels::Execution execution{.isa = isa, .threads = 1};
  const auto [m, n, k] = shape;
  const double work = 2.0 * m * n * k;
  std::vector<float> x(static_cast<std::size_t>(m) * k), y(static_cast<std::size_t>(k) * n);
  std::vector<float> c(static_cast<std::size_t>(m) * n);
  benchmarks::fillNormal(x.data(), x.size(), 1.0f);
  benchmarks::fillNormal(y.data(), y.size(), 1.0f);
  std::vector<T> a, b;
  narrowTo(x, a);
  narrowTo(y, b);
  const kernels::PackedMatrix right = kernels::packMatrix(b.data(), k, n, n, 1, execution);
  openblas_set_num_threads(1);
  const int calls = static_cast<int>(std::clamp(4e8 / work, 1.0, 1000.0));
  auto product = [&] {
    for (int i = 0; i < calls; ++i)
      kernels::multiplyRows(a.data(), k, m, right, c.data(), n, execution);
  };
  auto blas = [&] {
    for (int i = 0; i < calls; ++i)
      cblas_sgemm(kRowMajor, kNoTrans, kNoTrans, m, n, k, 1, x.data(), k, y.data(), n, 0, c.data(),
                  n);
  };
  product();
  blas();
  benchmarks::Samples rate, overBlas, ofPeak;
  for (auto _ : state) {
    const double time = benchmarks::seconds(product, 1) / calls;
    state.SetIterationTime(time);
    rate.add(work / time * 1e-9);
    overBlas.add(benchmarks::seconds(blas, 1) / calls / time);
    double done = 0;
    const double probeTime =
        benchmarks::seconds([&] { done = kernels::runPeak(kernels::Peak::F32, 1); }, 1);
    if (done > 0)
      ofPeak.add(work / time / (done / probeTime));
  }
  state.counters["Gop/s"] = rate.median();
  overBlas.report(state, "x_blas");
  if (ofPeak.empty())
    return;
  ofPeak.report(state, "of_bare_loop");
  if (sizeof(T) == 4 && isa != Isa::Portable && m >= kLeastRowsOfTarget)
    state.counters["must_of_bare_loop"] = kMustOfPeak;
}

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (Isa isa : {Isa::Avx512, Isa::Avx2}) {
    if (auto why = kernels::whyNot(isa)) {
      fmt::print("not run: {}\n", *why);
      continue;
    }
    for (const Shape& shape : kShapes) {
      auto add = [&](std::string_view type, auto run) {
        benchmark::RegisterBenchmark(fmt::format("product/plain {}/{}/{}x{}x{}/1T", type,
                                                 kernels::isaName(isa), shape.m, shape.n, shape.k)
                                         .c_str(),
                                     [=](benchmark::State& state) { run(state, shape, isa); })
            ->UseManualTime()
            ->Iterations(15)
            ->Unit(benchmark::kMillisecond);
      };
      add("f32", measure<float>);
      add("bf16", measure<std::uint16_t>);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
