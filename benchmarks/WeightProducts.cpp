// Products of f32 rows by weights in a scaled format, the rows packed on the way, beside the
// product of the same shape with f32 weights, in turn. Gop/s are of 2 M N K; of_f32 is the ratio of
// speed.
#include "Measure.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Product/Product.h"

#include <fmt/format.h>
#include <memory>
#include <vector>

using namespace octavo;
using kernels::Isa;

namespace {

struct Shape {
  std::int64_t m, n, k;
};
/// The shapes of MiniLM with its number of rows and with few rows; and a large weight.
constexpr Shape kShapes[] = {{768, 384, 384},  {768, 1536, 384},   {768, 384, 1536},
                             {256, 1536, 384}, {32, 1536, 384},    {16, 1536, 384},
                             {8, 1536, 384},   {1024, 1024, 1024}, {128, 4096, 4096},
                             {32, 4096, 4096}, {8, 4096, 4096},    {1, 4096, 4096}};
constexpr const char* kFormats[] = {"mxfp4",   "nvfp4",      "mxfp8_e4m3",
                                    "fp8_row", "fp8_tensor", "mxint8"};

/// What the closures of one measurement share; made when it is first run.
struct Operands {
  kernels::ProductPlan plan;
  kernels::Execution execution;
  std::vector<float> x, c;
  kernels::PackedOperand right{}, left{};
  kernels::PackedMatrix matrix;

  Operands(std::string_view name, const Shape& shape, const kernels::Execution& execution)
      : plan(kernels::productPlan(kernels::floatOperand(),
                                  kernels::operandFormat(*format::findScaledFormat(name)), shape.k,
                                  execution.isa)
                 .value()),
        execution(execution), x(static_cast<std::size_t>(shape.m * shape.k)),
        c(static_cast<std::size_t>(shape.m * shape.n)) {
    benchmarks::fillNormal(x.data(), x.size(), 1.0f);
    std::vector<float> y(static_cast<std::size_t>(shape.n * shape.k));
    benchmarks::fillNormal(y.data(), y.size(), 1.0f);
    const format::ScaledFormat& format = *format::findScaledFormat(name);
    numerics::ScaledType type{format.element, format.scale, {}, format.hasOuterScale};
    const std::vector<std::int64_t> extents{shape.n, shape.k};
    type.block = format::blockShape(format, extents, 1);
    right = pack(numerics::quantize(y, extents, type, {}).tensor, kernels::Side::Right, plan,
                 execution);
    matrix = kernels::packMatrix(y.data(), shape.k, shape.n, 1, shape.k, execution);
  }
};

void registerProduct(const char* format, const Shape& shape, const kernels::Execution& execution) {
  auto made = std::make_shared<std::unique_ptr<Operands>>();
  auto of = [made, format, shape, execution]() -> Operands& {
    if (!*made)
      *made = std::make_unique<Operands>(format, shape, execution);
    return **made;
  };
  benchmarks::registerMeasurement(
      {.name = fmt::format("weight-product/f32*{}/{}/{}x{}x{}/{}T", format,
                           kernels::isaName(execution.isa), shape.m, shape.n, shape.k,
                           execution.threads),
       .work = 2.0 * static_cast<double>(shape.m * shape.n) * static_cast<double>(shape.k),
       .unit = "Gop/s",
       .threads = execution.threads,
       .kernel =
           [of] {
             Operands& o = of();
             o.left = pack(std::span<const float>(o.x), o.plan, o.execution, std::move(o.left));
             multiply(o.plan, o.left, o.right, o.c, o.execution);
           },
       .beside = {{"of_f32",
                   [of, shape] {
                     Operands& o = of();
                     kernels::multiplyRows(o.x.data(), shape.k, shape.m, o.matrix, o.c.data(),
                                           shape.n, o.execution);
                   },
                   shape.m >= 32 ? 0.95 : 0}}});
}

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (Isa isa : {Isa::Avx512, Isa::Avx2}) {
    if (auto why = kernels::whyNot(isa)) {
      fmt::print("not run: {}\n", *why);
      continue;
    }
    for (const char* format : kFormats)
      for (const Shape& shape : kShapes)
        for (int threads : {1, 2})
          registerProduct(format, shape, {.isa = isa, .threads = threads});
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
